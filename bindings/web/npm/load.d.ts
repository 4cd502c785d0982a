/** A text is hashed as its UTF-8, as the command line hashes a line. An integer is its decimal
 * digits, so that 42 and '42' are one key; to a filter with `hash: 'raw'` it is the key itself. */
export type Key = string | number | bigint | Uint8Array;
export type Keys = Iterable<Key> | ArrayLike<Key>;

/** As `tamis kinds` names them. */
export type Kind =
    | 'bitmap' | 'hashset' | 'bloom' | 'partitioned' | 'blocked' | 'xor' | 'xorplus' | 'fuse'
    | 'fuse4' | 'fuse5' | 'ribbon' | 'gcs' | 'cascade' | 'map' | 'quotient' | 'cqf' | 'cuckoo'
    | 'cuckoo-buckets' | 'morton' | 'aleph' | 'counting' | 'counting-blocked' | 'spectral'
    | 'spectral-mi' | 'spectral-rm' | 'countmin' | 'compressed' | 'hashmap' | 'scalable' | 'window' | 'aqf'
    | 'acf' | (string & {});

export type Ability =
    | 'add' | 'build' | 'remove' | 'count' | 'merge' | 'intersect' | 'list' | 'fold'
    | 'concurrent-add' | 'get' | 'put' | 'exclude' | 'read-while-add' | 'resize' | 'grow' | 'exact-delete'
    | 'convert' | 'rotate' | 'dot' | 'adapt' | 'ask-keys' | 'exact' | 'indexed' | 'to-study' | (string & {});

export type Hash = 'fast' | 'keyed' | 'raw';

/** What is wanted. What is left out asks for nothing: without a kind one is chosen, without fpr and
 * maxBytes the rate is 1 %. */
export interface Options {
    kind?: Kind;
    /** Held at most. */
    keys?: number;
    /** Highest false positive rate at that load. */
    fpr?: number;
    maxBytes?: number;
    /** Share of slots that the keys take. */
    load?: number;
    /** Abilities needed. */
    can?: Ability | Ability[];
    /** Of values, 1 to 32; of kinds that can `get`. */
    valueBits?: number;
    /** Keys and excluded ones, of kinds that `exclude` or `adapt`. */
    universe?: number;
    /** Of counters, 1 to 16. */
    counterBits?: number;
    /** Of counts of a sketch, as a share of all adds. */
    error?: number;
    /** Of a Bloom filter: its size and its number of hash functions. */
    bits?: number;
    hashes?: number;
    /** Of a quotient filter: it has 2^quotientBits slots. */
    quotientBits?: number;
    /** Of what is kept of a key. */
    tagBits?: number;
    hash?: Hash;
    seed?: number | bigint;
    /** 16 bytes, for keys that outsiders choose; makes the hash 'keyed'. */
    secret?: Uint8Array;
}

export interface BuildOptions extends Options {
    /** Keys for which the answer is no, for certain. */
    exclude?: Keys;
}

export interface Plan {
    kind: Kind;
    hash: Hash;
    seed: bigint;
    capacity: number;
    /** Expected at capacity. */
    fpr: number;
    bytes: number;
    /** What these three mean, the page of the kind says. */
    slots: number;
    width: number;
    hashes: number;
    flags: number;
    load: number;
    /** Of counts; Infinity if there is none. */
    ceiling: number;
    error: number;
    abilities: Ability[];
}

export interface Info {
    plan: Plan;
    /** Adds minus removes; distinct keys in exact kinds. */
    count: number;
    /** Distinct keys, estimated unless the kind is exact. */
    cardinality: number;
    /** Share of the payload in use. */
    fill: number;
    /** False positive rate at this load. */
    fpr: number;
    readonly: boolean;
    saturated: number;
    note: string;
    noted: number;
    adaptations: number;
    adaptedBits: number;
    queried: number;
    error: number;
}

export interface KindInfo {
    name: Kind;
    /** As stored in images. */
    number: number;
    summary: string;
    abilities: Ability[];
}

export type Mark =
    'empty' | 'occupied' | 'continuation' | 'shifted' | 'run-end' | 'count' | 'extension' |
    'void';

/** The smallest thing that a kind reads or writes. A value above 2^53 is a bigint. */
export interface Cell {
    array: string;
    number: number;
    index: number;
    value: number | bigint;
    bits: number;
    marks: Mark[];
}

export type Step =
    | { type: 'number'; text: string; value: number | bigint }
    | { type: 'cell'; text: string; value: number | bigint; agrees: boolean; cell: Cell }
    | { type: 'answer'; text: string; value: 0 | 1; agrees: boolean };

/** A key of a filter by peeling touches cells, takes one that no other touches or leaves without,
 * and fills it at last; `own` is its place among them. */
export interface Peel {
    type: 'touches' | 'takes' | 'leaves' | 'fills';
    key: Key;
    fingerprint: number | bigint;
    cells: Cell[];
    own?: number;
}

/** What the library refuses, in its own words. */
export class TamisError extends Error {
    /** The name of the status, as in tamis.h: 'FULL', 'CORRUPT', 'NOMEM'... */
    readonly code: string;
}

export interface Filter {
    /** False is certain; true may be wrong, at the rate of the filter. */
    has(key: Key): boolean;
    hasMany(keys: Keys): boolean[];
    /** Throws a TamisError with the code 'FULL' if there is no room. */
    add(key: Key, times?: number): this;
    addMany(keys: Keys): this;
    /** Only remove what was added. False if the kind can tell that it was not there. */
    remove(key: Key, times?: number): boolean;
    /** How many were removed. */
    removeMany(keys: Keys): number;
    /** How often the key was added, at most; 1 or 0 in kinds that do not count. */
    count(key: Key): number;
    countMany(keys: Keys): number[];
    /** The value that came with the key; above 2^53 a bigint. */
    get(key: Key): number | bigint | undefined;
    /** The key has this value from now on; of maps whose values may change. */
    put(key: Key, value: number | bigint): this;
    /** Tells an adaptive filter that it was wrong about this key. */
    adapt(key: Key): this;

    /** Both filters have the same kind, size and hash. */
    merge(other: Filter): this;
    intersect(other: Filter): this;
    subtract(other: Filter): this;
    dot(other: Filter): number;
    clone(): Filter;
    /** `by` times smaller, at a higher rate. */
    fold(by: number): Filter;
    convert(kind: Kind): Filter;
    resize(keys: number): this;
    rotate(): this;
    /** Throws if the structure is damaged. */
    verify(): void;

    /** The image, as the command line writes it to a file. */
    toBytes(): Uint8Array;
    readonly kind: Kind;
    plan(): Plan;
    info(): Info;
    /** Keys, or fingerprints in kinds that are not exact, with their counts; of maps, with their
     * values. */
    list(): [key: bigint, number: number | bigint][];

    /** The 64-bit number that this key is. */
    key(key: Key): bigint;
    /** The raw key with that hash, for examples with given hashes. */
    keyWithHash(hash: number | bigint): bigint;
    /** What the filter holds, in the order of a picture. */
    cells(most?: number): Cell[];
    /** The answer of has(), step by step. */
    explain(key: Key): Step[];
    /** How a filter by peeling was made of these keys, step by step. */
    peeling(keys: Keys): Peel[];

    /** Gives the memory back at once. Filters that nobody holds are freed in time. */
    free(): void;
}

export interface FilterClass {
    new (options?: Options): Filter;
    /** A filter of exactly these keys, the only way for static kinds. Kinds that `get` take a Map
     * or pairs. Without `keys`, room is made for as many different ones as there are. */
    build(options: Kind | BuildOptions, keys: Keys | Iterable<[Key, number]>): Filter;
    /** Checks everything. Throws a TamisError if this is no image, or a damaged one. */
    fromBytes(image: Uint8Array | ArrayBuffer): Filter;
}

/** A library with memory of its own, which filters of another cannot be combined with. */
export interface Library {
    Filter: FilterClass;
    TamisError: typeof TamisError;
    /** What there is. */
    kinds(): KindInfo[];
    /** What it will take. */
    plan(options: Options): Plan;
    /** Every plan that meets the options, smallest first. */
    plans(options: Options): Plan[];
    /** The false positive rates to expect of that plan with so many keys. */
    rates(options: Options, counts: Iterable<number>): number[];
    version: string;
    memory: { readonly buffer: ArrayBuffer };
}

/** Which of the modules beside this file is for this engine: tamis.wasm, or tamis-plain.wasm where
 * vectors are not known. */
export const moduleName: string;

/** From an address, a response, bytes or a compiled module; by default the one beside it. */
export function load(source?: unknown): Promise<Library>;
