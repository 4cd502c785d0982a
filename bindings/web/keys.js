/* keys.js - how keys get into the memory of the module: as the bytes that the library hashes.
 *
 * A text is its UTF-8, as a line is to the command line. An integer is its decimal digits, so that
 * 42 and '42' are one key; to a filter of raw integers it is the key itself. A Uint8Array is its
 * bytes. Encoding is most of the cost of a call. A short text is copied letter by letter, because a
 * call of TextEncoder takes longer than that; a long one is given to it, and so are many as one. */

/** Keys that are hashed in one call, at most. */
export const CHUNK = 1024;
const SHORT = 32; // letters that are copied faster by a loop than by TextEncoder
const ROOM = 1 << 16; // bytes of text, more if a key is longer
const INTEGER = /^([0-9]+|0[xX][0-9a-fA-F]+)$/;

const encoder = new TextEncoder();

/** The 64-bit number that a raw key is; the command line reads lines of numbers by the same rule. */
function integerOf(key) {
    if (typeof key === 'number' && !Number.isSafeInteger(key))
        throw new RangeError(`${key} is not a whole number that a double holds exactly`);
    if (typeof key === 'string' && !INTEGER.test(key))
        throw new RangeError(`'${key}' is not a whole number`);
    const number = BigInt(textOf(key));
    if (number < 0n || number >> 64n)
        throw new RangeError(`${key} is not between 0 and 2^64 - 1`);
    return number;
}

/** To the two halves of a 64-bit number that begin at halves[i]. */
function putInteger(halves, i, key) {
    if (typeof key === 'number' && key >= 0 && Number.isSafeInteger(key)) {
        halves[i] = key;
        halves[i + 1] = key / 2 ** 32;
        return;
    }
    const number = integerOf(key);
    halves[i] = Number(number & 0xffffffffn);
    halves[i + 1] = Number(number >> 32n);
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
    #room; // views of the text, as bytes and as one number
    #halves;
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
        this.#halves = new Uint32Array(this.#wasm.memory.buffer, this.at, 2);
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
        const isBytes = key instanceof Uint8Array;
        if (isRaw && !isBytes) {
            this.#reserve(8);
            putInteger(this.#halves, 0, key);
            return 8;
        }
        if (!isBytes)
            return this.putText(textOf(key));
        this.#reserve(key.length);
        this.#room.set(key);
        return key.length;
    }

    /** Hashes keys[from], keys[from + 1]... to memory at `to`, as many as go in one call, at most
     * CHUNK; returns how many. */
    fill(hasher, isRaw, keys, from, to = this.hashes) {
        if (isRaw)
            return this.#fillRaw(keys, from, to);
        this.#reserve(0);
        const n = this.#takePlain(keys, from) || this.#takeAny(keys, from);
        this.#wasm.web_hash_many(hasher, to, this.at, this.#endsAt, n);
        return n;
    }

    #fillRaw(keys, from, to) {
        const n = Math.min(keys.length - from, CHUNK);
        if (keys instanceof BigUint64Array) {
            new BigUint64Array(this.#wasm.memory.buffer, to, n).set(keys.subarray(from, from + n));
            return n;
        }
        const halves = new Uint32Array(this.#wasm.memory.buffer, to, 2 * n);
        for (let i = 0; i < n; i++)
            putInteger(halves, 2 * i, keys[from + i]);
        return n;
    }

    /** Texts of ASCII, as most are: all of them in one, which is encoded by one call. Returns how
     * many, or 0 if there is another letter: an end is then not where a length says. */
    #takePlain(keys, from) {
        const stop = Math.min(keys.length, from + CHUNK), most = this.#capacity / 3;
        const ends = this.#ends;
        let all = '', size = 0, i = from;
        for (; i < stop; i++) {
            const key = typeof keys[i] === 'string' ? keys[i] : textOf(keys[i]);
            if (typeof key !== 'string' || size + key.length > most)
                break;
            all += key;
            size += key.length;
            ends[i - from] = size;
        }
        return encoder.encodeInto(all, this.#room).written === size ? i - from : 0;
    }

    #takeAny(keys, from) {
        const stop = Math.min(keys.length, from + CHUNK);
        let at = 0, i = from;
        for (; i < stop; i++) {
            const text = textOf(keys[i]);
            if (i === from)
                this.#reserve(3 * text.length);
            if (at + 3 * text.length > this.#capacity)
                break;
            const rest = this.#room.subarray(at);
            if (typeof text === 'string')
                at += encoder.encodeInto(text, rest).written;
            else {
                rest.set(text);
                at += text.length;
            }
            this.#ends[i - from] = at;
        }
        return i - from;
    }
}
