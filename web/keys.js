/* keys.js - how keys get into the memory of the module: as the bytes that the library hashes.
 *
 * A text is its UTF-8, as a line is to the command line. An integer is its decimal digits, so that
 * 42 and '42' are one key; to a filter of raw integers it is the key itself. A Uint8Array is its
 * bytes. Encoding is most of the cost of a call: short texts are copied here letter by letter,
 * because a call of TextEncoder takes longer than that; long ones are given to it. */

const CHUNK = 2048; // keys that are hashed in one call
const SHORT = 48; // letters that are copied faster by a loop than by TextEncoder
const ROOM = 1 << 16; // bytes of text, more if a key is longer
const INTEGER = /^([0-9]+|0[xX][0-9a-fA-F]+)$/;

const encoder = new TextEncoder();

/** The 64-bit number that a raw key is; the command line reads lines of numbers by the same rule. */
function integerOf(key) {
    if (typeof key === 'number' && !Number.isSafeInteger(key))
        throw new RangeError(`${key} is not a whole number that a double holds exactly`);
    if (typeof key === 'string' && !INTEGER.test(key))
        throw new RangeError(`'${key}' is not a whole number`);
    const number = BigInt(key);
    if (number < 0n || number >> 64n)
        throw new RangeError(`${key} is not between 0 and 2^64 - 1`);
    return number;
}

/** What stands for a key: its text, or its bytes. */
function textOf(key) {
    if (typeof key === 'string' || key instanceof Uint8Array)
        return key;
    if (typeof key === 'bigint' || Number.isSafeInteger(key))
        return String(key);
    throw new TypeError('a key is a string, a whole number, a bigint or a Uint8Array');
}

export class Keys {
    #wasm;
    #room; // a view of the text
    #capacity = 0;
    #ends;
    #endsAt;

    /** Where put() leaves a key, and fill() leaves hashes if not told otherwise. */
    at = 0;
    hashes;

    constructor(wasm, allocate) {
        this.#wasm = wasm;
        this.allocate = allocate;
        this.hashes = allocate(8 * CHUNK);
        this.#endsAt = allocate(4 * CHUNK);
        this.#grow(ROOM);
    }

    #grow(capacity) {
        const at = this.allocate(capacity);
        if (this.at)
            this.#wasm.free(this.at);
        this.at = at;
        this.#capacity = capacity;
        this.#look();
    }

    /** Views are of no use once the memory has grown: they have no length then. */
    #look() {
        this.#room = new Uint8Array(this.#wasm.memory.buffer, this.at, this.#capacity);
        this.#ends = new Uint32Array(this.#wasm.memory.buffer, this.#endsAt, CHUNK);
    }

    /** Puts one key at this.at and returns its size in bytes. */
    put(key, isRaw) {
        return typeof key === 'string' && !isRaw ? this.putText(key) : this.#putOther(key, isRaw);
    }

    putText(key) {
        const n = key.length;
        let room = this.#room;
        if (room.length === 0) {
            this.#look();
            room = this.#room;
        }
        if (n > SHORT)
            return this.#putLong(key);
        for (let i = 0; i < n; i++) {
            const code = key.charCodeAt(i);
            if (code > 127)
                return this.#putLong(key);
            room[i] = code;
        }
        return n;
    }

    #putLong(key) {
        this.#reserve(3 * key.length);
        return encoder.encodeInto(key, this.#room).written;
    }

    #reserve(size) {
        if (size > this.#capacity)
            this.#grow(size);
        else if (this.#room.length === 0)
            this.#look();
    }

    #putOther(key, isRaw) {
        if (isRaw && !(key instanceof Uint8Array)) {
            this.#reserve(8);
            new DataView(this.#wasm.memory.buffer).setBigUint64(this.at, integerOf(key), true);
            return 8;
        }
        const text = textOf(key);
        if (typeof text === 'string')
            return this.putText(text);
        this.#reserve(text.length);
        this.#room.set(text);
        return text.length;
    }

    /** Hashes keys[from], keys[from + 1]... to memory at `to`, as many as go in one call, at most
     * CHUNK; returns how many. */
    fill(hasher, isRaw, keys, from, to = this.hashes) {
        return isRaw ? this.#fillRaw(keys, from, to) : this.#fillHashed(hasher, keys, from, to);
    }

    #fillRaw(keys, from, to) {
        const n = Math.min(keys.length - from, CHUNK);
        const words = new BigUint64Array(this.#wasm.memory.buffer, to, n);
        if (keys instanceof BigUint64Array)
            words.set(keys.subarray(from, from + n));
        else
            for (let i = 0; i < n; i++)
                words[i] = integerOf(keys[from + i]);
        return n;
    }

    #fillHashed(hasher, keys, from, to) {
        const stop = Math.min(keys.length, from + CHUNK);
        this.#reserve(0);
        const room = this.#room, ends = this.#ends, capacity = this.#capacity;
        let at = 0, i = from;
        for (; i < stop; i++) {
            const text = typeof keys[i] === 'string' ? keys[i] : textOf(keys[i]);
            const n = text.length;
            if (at + 3 * n > capacity)
                break;
            at += typeof text === 'string' ? putAt(room, at, text, n) : (room.set(text, at), n);
            ends[i - from] = at;
        }
        if (i === from && i < stop) {
            this.#reserve(3 * keys[i].length);
            return this.#fillHashed(hasher, keys, from, to);
        }
        this.#wasm.web_hash_many(hasher, to, this.at, this.#endsAt, i - from);
        return i - from;
    }
}

function putAt(room, at, text, n) {
    if (n <= SHORT) {
        let i = 0;
        for (; i < n; i++) {
            const code = text.charCodeAt(i);
            if (code > 127)
                break;
            room[at + i] = code;
        }
        if (i === n)
            return n;
    }
    return encoder.encodeInto(text, room.subarray(at)).written;
}
