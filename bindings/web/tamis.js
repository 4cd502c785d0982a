/* tamis.js - approximate membership filters in JavaScript: the C library as a WebAssembly module.
 *
 *     import { load } from './tamis.js';
 *     const { Filter } = await load();
 *     const filter = new Filter({ keys: 1000, fpr: 0.01 });
 *     filter.add('pear');
 *     filter.has('pear');             // true
 *
 * Every answer is the library's; this file passes keys and numbers, and turns a status into an
 * exception. index.d.ts describes what it offers. */
import { CHUNK, Keys } from './keys.js';

const HASHES = ['fast', 'keyed', 'raw'];
const MARKS = ['empty', 'occupied', 'continuation', 'shifted', 'run-end', 'count', 'extension', 'void'];
const STEPS = ['number', 'cell', 'answer'];
const PEELS = ['touches', 'takes', 'leaves', 'fills'];
const OPERATIONS = { merge: 0, intersect: 1, subtract: 2 };
const ONCE = 1n;
const decoder = new TextDecoder();

/** What the library refuses, in its own words; `code` is the name of its status. */
export class TamisError extends Error {
    constructor(code, message) {
        super(message);
        this.name = 'TamisError';
        this.code = code;
    }
}

/** The smallest module with a vector: whoever accepts it knows them. */
const WITH_VECTOR = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0,
    10, 8, 1, 6, 0, 65, 0, 253, 15, 11);

/** Which of the modules beside this file is for this engine. */
export const moduleName = WebAssembly.validate(WITH_VECTOR) ? 'tamis.wasm' : 'tamis-plain.wasm';

async function compile(source) {
    source = await source;
    if (source instanceof WebAssembly.Module)
        return source;
    if (typeof source === 'string' || source instanceof URL)
        source = await fetch(source);
    if (typeof Response !== 'undefined' && source instanceof Response)
        source = await source.arrayBuffer();
    return WebAssembly.compile(source);
}

/** A library with memory of its own. The source is an address, a Response, bytes or a module. */
export async function load(source = new URL(moduleName, import.meta.url)) {
    return bind((await WebAssembly.instantiate(await compile(source), {})).exports);
}

function putBits(answers, from, words, n) {
    for (let i = 0; i < n; i++)
        answers[from + i] = (words[i >> 5] >>> (i & 31) & 1) === 1;
}

const camel = name => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

function bind(wasm) {
    // ---- Memory --------------------------------------------------------

    const view = () => new DataView(wasm.memory.buffer);
    const bytesAt = (at, size) => new Uint8Array(wasm.memory.buffer, at, size);

    function textAt(at) {
        if (!at)
            return null;
        const rest = new Uint8Array(wasm.memory.buffer, at);
        return decoder.decode(rest.subarray(0, rest.indexOf(0)));
    }

    function fail(status, more) {
        const text = textAt(wasm.tamis_status_text(status));
        throw new TamisError(textAt(wasm.web_status_name(status)), more ? `${text}: ${more}` : text);
    }

    function check(status) {
        if (status)
            fail(status);
    }

    /** A value or a number of times, as 64 bits. */
    function wordOf(value) {
        const word = Number.isSafeInteger(value) || typeof value === 'bigint' ? BigInt(value) : -1n;
        if (word < 0n || word >> 64n)
            throw new RangeError(`${value} is not a whole number from 0 that a double or 64 bits hold`);
        return word;
    }

    const OUT_OF_MEMORY = 1;

    function allocate(size) {
        const at = size < 2 ** 32 ? wasm.malloc(size || 1) >>> 0 : 0;
        if (!at)
            fail(OUT_OF_MEMORY);
        return at;
    }

    /** Calls what uses a block of that size, and gives it back. */
    function withBlock(size, use) {
        const at = allocate(size);
        try {
            return use(at);
        } finally {
            wasm.free(at);
        }
    }

    const keys = new Keys(wasm, allocate);
    const out = allocate(16); // where calls leave what they make
    const outPointer = () => view().getUint32(out, true);

    // ---- Names and numbers ---------------------------------------------

    const numbersAt = wasm.web_numbers();
    const namesAt = at => textAt(at).split(' ').map(camel);
    const SPEC = namesAt(wasm.web_spec_names());
    const PLAN = namesAt(wasm.web_plan_names());
    const INFO = namesAt(wasm.web_info_names());
    const ABILITIES = new Map();
    for (let i = 0, at; (at = wasm.web_ability_name(i)); i++)
        ABILITIES.set(textAt(at), wasm.web_ability_bit(i));
    const KINDS = new Map();
    for (let kind = 0; (kind = wasm.tamis_kind_next(kind));)
        KINDS.set(textAt(wasm.tamis_kind_name(kind)), kind);
    const kindName = kind => textAt(wasm.tamis_kind_name(kind));
    const abilitiesOf = bits => [...ABILITIES].filter(([, bit]) => bits & bit).map(([name]) => name);

    const numbers = n => new Float64Array(wasm.memory.buffer, numbersAt, n);

    function named(names) {
        const values = numbers(names.length);
        return Object.fromEntries(names.map((name, i) => [name, values[i]]));
    }

    function oneOf(table, name, what) {
        const found = table.get(name);
        if (found === undefined)
            throw new RangeError(`no ${what} is called '${name}'; there are ${[...table.keys()].join(', ')}`);
        return found;
    }

    const kindOf = name => (name === undefined ? 0 : oneOf(KINDS, name, 'kind'));

    // ---- Plans ---------------------------------------------------------

    const KNOWN = new Set([...SPEC, 'kind', 'hash', 'seed', 'secret', 'exclude']);

    function abilityBits(can = []) {
        return [can].flat().reduce((bits, name) => bits | oneOf(ABILITIES, name, 'ability'), 0);
    }

    function numberOf(options, name) {
        const value = name === 'can' ? abilityBits(options.can) : Number(options[name] ?? 0);
        if (!(value >= 0 && value < Infinity) || typeof options[name] === 'object' && name !== 'can')
            throw new RangeError(`${name} is ${options[name]}, not a number from 0`);
        return value;
    }

    function setHasher(options, kind) {
        const isIndexed = wasm.tamis_kind_can(kind) & ABILITIES.get('indexed');
        const hash = options.hash ?? (options.secret ? 'keyed' : isIndexed ? 'raw' : 'fast');
        if (!HASHES.includes(hash))
            throw new RangeError(`no hash is called '${hash}'; there are ${HASHES.join(', ')}`);
        if (options.secret && !(options.secret instanceof Uint8Array && options.secret.length === 16))
            throw new RangeError('a secret is a Uint8Array of 16 bytes');
        bytesAt(keys.at, 16).set(options.secret ?? new Uint8Array(16));
        wasm.web_set_hasher(HASHES.indexOf(hash), BigInt.asUintN(64, BigInt(options.seed ?? 0)), keys.at);
    }

    /** Sets hasher and numbers of the module to these options; returns the kind. */
    function setSpec(options) {
        for (const name of Object.keys(options))
            if (!KNOWN.has(name))
                throw new RangeError(`no option is called '${name}'; there are ${[...KNOWN].join(', ')}`);
        const kind = kindOf(options.kind);
        setHasher(options, kind);
        numbers(SPEC.length).set(SPEC.map(name => numberOf(options, name)));
        return kind;
    }

    function setPlan(options) {
        check(wasm.web_plan(setSpec(options)));
        return wasm.web_planned();
    }

    function planAt(at) {
        wasm.web_plan_numbers(at);
        const hasher = wasm.web_plan_hasher(at);
        const found = named(PLAN);
        return {
            ...found,
            kind: kindName(found.kind),
            ceiling: found.ceiling < 2 ** 64 ? found.ceiling : Infinity,
            hash: HASHES[wasm.web_hasher_hash(hasher)],
            seed: BigInt.asUintN(64, wasm.web_hasher_seed(hasher)),
            abilities: abilitiesOf(wasm.tamis_plan_can(at)),
        };
    }

    function plan(options) {
        return planAt(setPlan(options));
    }

    function plans(options) {
        setSpec(options);
        return Array.from({ length: wasm.web_plan_all() }, (_, i) => {
            wasm.web_plan_pick(i);
            return planAt(wasm.web_planned());
        });
    }

    /** The rates to expect of that plan with so many keys, one for each of `counts`. */
    function rates(options, counts) {
        const at = setPlan(options);
        return Array.from(counts, n => wasm.tamis_plan_rate(at, BigInt(Math.round(n))));
    }

    function kinds() {
        return [...KINDS].map(([name, number]) => ({
            name,
            number,
            summary: textAt(wasm.tamis_kind_summary(number)),
            abilities: abilitiesOf(wasm.tamis_kind_can(number)),
        }));
    }

    // ---- Building ------------------------------------------------------

    function listOf(things) {
        if (Array.isArray(things) || (ArrayBuffer.isView(things) && !(things instanceof DataView)))
            return things;
        if (typeof things === 'string' || typeof things?.[Symbol.iterator] !== 'function')
            throw new TypeError('keys are an array or something to iterate over');
        return Array.from(things);
    }

    function hashAll(hasher, isRaw, list, to) {
        for (let done = 0; done < list.length;)
            done += keys.fill(hasher, isRaw, list, done, to + 8 * done);
    }

    /** Calls `use` with the address and the number of these keys, hashed as the options say. */
    function withHashes(list, use) {
        return withBlock(8 * list.length, at => {
            const hasher = wasm.web_hasher();
            hashAll(hasher, HASHES[wasm.web_hasher_hash(hasher)] === 'raw', list, at);
            return use(at, list.length);
        });
    }

    function countDistinct(at, n) {
        return withBlock(8 * n, copy => {
            bytesAt(copy, 8 * n).set(bytesAt(at, 8 * n));
            return wasm.web_sort_unique(copy, n);
        });
    }

    function bitsOfLargest(values) {
        let all = 1n;
        for (const value of values)
            all |= wordOf(value);
        return all.toString(2).length;
    }

    /** The plan of a filter of exactly these keys: what the options leave open, the keys decide. */
    function planOf(options, at, n, beside) {
        const distinct = options.keys ?? Math.max(1, countDistinct(at, n));
        return setPlan({
            ...options,
            keys: distinct,
            universe: options.universe ?? (beside.exclude ? distinct + beside.exclude.length : 0),
            valueBits: options.valueBits ??
                (beside.values ? bitsOfLargest(beside.values) : 0),
        });
    }

    function buildMap(planned, at, n, values) {
        return withBlock(8 * n, valuesAt => {
            const words = new BigUint64Array(wasm.memory.buffer, valuesAt, n);
            for (let i = 0; i < n; i++)
                words[i] = wordOf(values[i]);
            return wasm.tamis_build_map(out, planned, at, valuesAt, n, 0);
        });
    }

    function buildExcluding(planned, at, n, exclude) {
        return withHashes(exclude, (excludedAt, m) =>
            wasm.tamis_build_excluding(out, planned, at, n, excludedAt, m, 0));
    }

    function build(options, list, values) {
        const exclude = options.exclude && listOf(options.exclude);
        setSpec(options);
        return withHashes(list, (at, n) => {
            const planned = planOf(options, at, n, { values, exclude });
            check(values ? buildMap(planned, at, n, values)
                : exclude ? buildExcluding(planned, at, n, exclude)
                    : wasm.tamis_build(out, planned, at, n, 0));
            return outPointer();
        });
    }

    function read(image) {
        if (image instanceof ArrayBuffer)
            image = new Uint8Array(image);
        if (!(image instanceof Uint8Array))
            throw new TypeError('an image is a Uint8Array or an ArrayBuffer');
        return withBlock(image.length + 64, block => {
            const at = block + (-block & 63); // as a view must be, which tells more about a fault
            bytesAt(at, image.length).set(image);
            const status = wasm.tamis_image_read(out, at, image.length, 0);
            if (status)
                fail(status, textAt(wasm.web_fault(at, image.length)));
            return outPointer();
        });
    }

    // ---- Cells and steps: structs of tamis_explain.h, where module.c says they are

    const CELL_SIZE = 40, STEP_SIZE = 64, PEEL_SIZE = 352;
    const texts = new Map(); // there are few, and each comes often
    function knownText(at) {
        if (!texts.has(at))
            texts.set(at, textAt(at));
        return texts.get(at);
    }

    const shortest = word => (word <= Number.MAX_SAFE_INTEGER ? Number(word) : word);
    const wordAt = (memory, at) => shortest(memory.getBigUint64(at, true));

    function cellAt(memory, at) {
        const marks = memory.getUint32(at + 36, true);
        return {
            array: knownText(memory.getUint32(at, true)),
            number: wordAt(memory, at + 8),
            index: wordAt(memory, at + 16),
            value: wordAt(memory, at + 24),
            bits: memory.getUint32(at + 32, true),
            marks: MARKS.filter((_, i) => marks >> i & 1),
        };
    }

    function stepAt(memory, at) {
        const type = STEPS[memory.getUint32(at, true)];
        const step = {
            type,
            text: knownText(memory.getUint32(at + 4, true)),
            value: wordAt(memory, at + 8),
        };
        if (type !== 'number')
            step.agrees = memory.getUint8(at + 16) !== 0;
        if (type === 'cell')
            step.cell = cellAt(memory, at + 24);
        return step;
    }

    function peelAt(memory, at, list) {
        const type = PEELS[memory.getUint32(at, true)];
        const peel = {
            type,
            key: list[memory.getUint32(at + 4, true)],
            fingerprint: wordAt(memory, at + 8),
            cells: Array.from({ length: memory.getUint32(at + 20, true) },
                (_, i) => cellAt(memory, at + 32 + CELL_SIZE * i)),
        };
        if (type === 'takes' || type === 'fills')
            peel.own = memory.getUint32(at + 24, true);
        return peel;
    }

    // ---- Filters -------------------------------------------------------

    /** Filters that nobody holds any more are freed. */
    const registry = new FinalizationRegistry(at => wasm.tamis_free(at));
    const HITS = allocate(CHUNK / 8);
    const COUNTS = allocate(CHUNK * 8);

    /** An address of the module, so that nobody makes a filter of a number. */
    class Made {
        constructor(at) {
            this.at = at;
        }
    }

    class Filter {
        #at;
        #isRaw;
        #hasher;

        constructor(options = {}) {
            if (!(options instanceof Made)) {
                check(wasm.tamis_new(out, setPlan(options), 0));
                options = new Made(outPointer());
            }
            this.#at = options.at;
            this.#hasher = wasm.web_plan_hasher(wasm.tamis_plan_of(this.#at));
            this.#isRaw = HASHES[wasm.web_hasher_hash(this.#hasher)] === 'raw';
            registry.register(this, this.#at, this);
        }

        static build(options, things) {
            if (typeof options === 'string')
                options = { kind: options };
            if (!(wasm.tamis_kind_can(kindOf(options.kind)) & ABILITIES.get('get')))
                return new Filter(new Made(build(options, listOf(things))));
            const entries = Array.from(things instanceof Map || typeof things?.[Symbol.iterator] === 'function'
                ? things : Object.entries(things));
            return new Filter(new Made(build(options, entries.map(([key]) => key),
                entries.map(([, value]) => value))));
        }

        static fromBytes(image) {
            return new Filter(new Made(read(image)));
        }

        toBytes() {
            const size = wasm.tamis_image_size(this.#live());
            return withBlock(size, at => {
                check(wasm.tamis_image_write(this.#at, at, size));
                return bytesAt(at, size).slice();
            });
        }

        /** After free() there is no filter to ask. */
        #live() {
            if (!this.#at)
                throw new TypeError('the filter was freed');
            return this.#at;
        }

        free() {
            if (!this.#at)
                return;
            registry.unregister(this);
            wasm.tamis_free(this.#at);
            this.#at = 0;
        }

        // -- One key

        has(key) {
            const f = this.#live();
            if (this.#isRaw && key >= 0 && Number.isSafeInteger(key))
                return wasm.web_has_integer(f, key | 0, key / 2 ** 32 | 0) !== 0;
            return wasm.web_has(f, keys.at, keys.put(key, this.#isRaw)) !== 0;
        }

        add(key, times = 1) {
            const f = this.#live(), size = keys.put(key, this.#isRaw);
            check(wasm.web_add(f, keys.at, size, times === 1 ? ONCE : wordOf(times)));
            return this;
        }

        /** Whether it was there, as far as the kind can tell. */
        remove(key, times = 1) {
            const f = this.#live(), size = keys.put(key, this.#isRaw);
            const status = wasm.web_remove(f, keys.at, size, times === 1 ? ONCE : wordOf(times));
            if (status && textAt(wasm.web_status_name(status)) !== 'ABSENT')
                fail(status);
            return !status;
        }

        count(key) {
            const f = this.#live(), size = keys.put(key, this.#isRaw);
            return wasm.web_count(f, keys.at, size);
        }

        /** The value that came with the key, or undefined. */
        get(key) {
            const f = this.#live(), size = keys.put(key, this.#isRaw);
            return wasm.web_get(f, out, keys.at, size) ? wordAt(view(), out) : undefined;
        }

        /** The key has this value from now on; of maps whose values may change. */
        put(key, value) {
            const f = this.#live(), size = keys.put(key, this.#isRaw);
            check(wasm.web_put(f, keys.at, size, wordOf(value)));
            return this;
        }

        /** Tells the filter that this key was a false positive. */
        adapt(key) {
            const f = this.#live(), size = keys.put(key, this.#isRaw);
            check(wasm.web_adapt(f, keys.at, size));
            return this;
        }

        /** The 64-bit number that this key is to the filter. */
        key(key) {
            const f = this.#live(), size = keys.put(key, this.#isRaw);
            return BigInt.asUintN(64, wasm.tamis_key(f, keys.at, size));
        }

        // -- Many keys

        /** Calls `use` for each batch of so many keys, when it is hashed. */
        #each(things, use) {
            this.#live();
            const list = listOf(things);
            for (let from = 0, n; from < list.length; from += n) {
                n = keys.fill(this.#hasher, this.#isRaw, list, from);
                use(this.#live(), n, from); // what makes the keys may have freed it
            }
        }

        hasMany(things) {
            const list = listOf(things), answers = new Array(list.length);
            this.#each(list, (f, n, from) => {
                wasm.tamis_has_many(f, HITS, keys.hashes, n);
                putBits(answers, from, new Uint32Array(wasm.memory.buffer, HITS, CHUNK / 32), n);
            });
            return answers;
        }

        countMany(things) {
            const counts = [];
            this.#each(things, (f, n) => {
                wasm.tamis_count_many(f, COUNTS, keys.hashes, n);
                for (const count of new BigUint64Array(wasm.memory.buffer, COUNTS, n))
                    counts.push(Number(count));
            });
            return counts;
        }

        addMany(things) {
            let added = 0;
            this.#each(things, (f, n) => {
                const status = wasm.tamis_add_many(f, out, keys.hashes, n);
                added += outPointer();
                if (status)
                    fail(status, `after ${added} keys`);
            });
            return this;
        }

        /** How many were there, as far as the kind can tell. */
        removeMany(things) {
            let removed = 0;
            this.#each(things, (f, n) => {
                const status = wasm.tamis_remove_many(f, out, keys.hashes, n);
                removed += outPointer();
                if (status && textAt(wasm.web_status_name(status)) !== 'ABSENT')
                    fail(status, `after ${removed} keys`);
            });
            return removed;
        }

        // -- Whole filters

        #combine(operation, other) {
            if (!(other instanceof Filter))
                throw new TypeError('the other is no filter of this library');
            check(wasm.tamis_combine(this.#live(), OPERATIONS[operation], other.#live()));
            return this;
        }

        merge(other) {
            return this.#combine('merge', other);
        }

        intersect(other) {
            return this.#combine('intersect', other);
        }

        subtract(other) {
            return this.#combine('subtract', other);
        }

        #made(status) {
            check(status);
            return new Filter(new Made(outPointer()));
        }

        clone() {
            return this.#made(wasm.tamis_clone(out, this.#live(), 0));
        }

        fold(by) {
            return this.#made(wasm.tamis_fold(out, this.#live(), BigInt(by), 0));
        }

        convert(kind) {
            return this.#made(wasm.tamis_convert(out, kindOf(kind), this.#live(), 0));
        }

        resize(n) {
            check(wasm.tamis_resize(this.#live(), BigInt(n)));
            return this;
        }

        rotate() {
            check(wasm.tamis_rotate(this.#live()));
            return this;
        }

        dot(other) {
            check(wasm.tamis_dot(this.#live(), out, other.#live()));
            return Number(view().getBigUint64(out, true));
        }

        verify() {
            check(wasm.tamis_verify(this.#live(), 0, 0));
        }

        /** [key, count] of each key or fingerprint that the filter can name; of maps, [key, value]. */
        list() {
            const f = this.#live();
            check(wasm.web_list(f, 0, out, 0));
            const n = outPointer();
            return withBlock(16 * n, at => {
                check(wasm.web_list(f, at, out, n));
                const pairs = new BigUint64Array(wasm.memory.buffer, at, 2 * n);
                return Array.from({ length: n }, (_, i) => [pairs[2 * i], shortest(pairs[2 * i + 1])]);
            });
        }

        /** What the filter holds, cell by cell in the order of a picture; the first `most` of them. */
        cells(most = Infinity) {
            const f = this.#live();
            check(wasm.web_cells(f, 0, out, 0));
            const n = Math.min(outPointer(), most);
            return withBlock(CELL_SIZE * n, at => {
                check(wasm.web_cells(f, at, out, n));
                const memory = view();
                return Array.from({ length: n }, (_, i) => cellAt(memory, at + CELL_SIZE * i));
            });
        }

        /** The answer of has(), step by step. */
        explain(key) {
            const f = this.#live(), number = this.key(key);
            const n = wasm.web_steps(f, number, 0, 0);
            return withBlock(STEP_SIZE * n, at => {
                wasm.web_steps(f, number, at, n);
                const memory = view();
                return Array.from({ length: n }, (_, i) => stepAt(memory, at + STEP_SIZE * i));
            });
        }

        /** How a filter by peeling was made of these keys, step by step. */
        peeling(things) {
            const list = listOf(things), f = this.#live();
            return withBlock(8 * list.length, at => {
                hashAll(this.#hasher, this.#isRaw, list, at);
                check(wasm.web_peels(f, at, list.length, 0, out, 0));
                const n = outPointer();
                return withBlock(PEEL_SIZE * n, peels => {
                    check(wasm.web_peels(f, at, list.length, peels, out, n));
                    const memory = view();
                    return Array.from({ length: n }, (_, i) => peelAt(memory, peels + PEEL_SIZE * i, list));
                });
            });
        }

        /** The raw key with that hash, for examples with given hashes. */
        keyWithHash(hash) {
            return BigInt.asUintN(64, wasm.tamis_key_with_hash(this.#live(), BigInt(hash)));
        }

        get kind() {
            return this.plan().kind;
        }

        plan() {
            return planAt(wasm.tamis_plan_of(this.#live()));
        }

        info() {
            const note = textAt(wasm.web_info_numbers(this.#live()));
            const found = named(INFO);
            return { ...found, readonly: found.readonly !== 0, note, plan: this.plan() };
        }
    }

    return { Filter, TamisError, kinds, plan, plans, rates,
        version: textAt(wasm.tamis_version()), memory: wasm.memory };
}
