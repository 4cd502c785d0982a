/* filter.test.js - what index.d.ts promises. Each test says it in its name. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Filter, kinds, load, plan, plans, rates, TamisError, version } from '../index.js';

const words = (n, prefix = 'word') => Array.from({ length: n }, (_, i) => `${prefix}-${i}`);
const can = (kind, ability) => kind.abilities.includes(ability);
const code = wanted => error => error instanceof TamisError && error.code === wanted;

/** A filter of any kind with these keys, by adding or by building. */
function filterOf(kind, keys, options = {}) {
    if (can(kind, 'get'))
        return Filter.build({ kind: kind.name, ...options }, keys.map((key, i) => [key, i % 100]));
    if (can(kind, 'exclude'))
        return Filter.build({ kind: kind.name, exclude: words(50, 'other'), ...options }, keys);
    return Filter.build({ kind: kind.name, ...options }, keys);
}

/** Keys that this kind can hold. */
const keysFor = kind => (can(kind, 'indexed') ? Array.from({ length: 300 }, (_, i) => i) : words(300));

test('every kind finds all its keys, one by one and many at a time, before and after an image', () => {
    for (const kind of kinds()) {
        const keys = keysFor(kind);
        const filter = filterOf(kind, keys);
        const image = filter.toBytes();
        const copy = Filter.fromBytes(image);
        assert.deepEqual(copy.toBytes(), image, kind.name);
        assert.ok(keys.every(key => filter.has(key) && copy.has(key)), kind.name);
        assert.ok(copy.hasMany(keys).every(Boolean), kind.name);
        assert.equal(copy.kind, kind.name);
        filter.verify();
    }
});

test('hasMany and has give the same answers, also beyond a batch and for any letters', () => {
    const filter = new Filter({ keys: 4000, fpr: 0.1 });
    const letters = ['', 'é', '日本', '\u{1f600}', '\ud83d', '\ude00', 'a\nb', 'x'.repeat(40), 'ß'.repeat(400),
        'long'.repeat(40000), new Uint8Array([0, 255, 10]), 7, 8n, -3];
    const keys = [...words(3000), ...letters, ...words(3000, 'absent')];
    filter.addMany(keys.slice(0, 3000 + letters.length));
    assert.deepEqual(filter.hasMany(keys), keys.map(key => filter.has(key)));
    assert.ok(filter.hasMany(letters).every(Boolean));
    const lonely = new Filter({ keys: 100, kind: 'hashset' }).addMany(['\ud83d', '\ude00', 'é']);
    assert.deepEqual(lonely.hasMany(['\u{1f600}', '\ud83d', '\ude00', 'é']), [false, true, true, true]);
});

test('a whole number is its digits; raw, it is the key itself', () => {
    const lines = new Filter({ keys: 100, kind: 'hashset' }).addMany([42, 43n, '44']);
    assert.deepEqual(lines.hasMany(['42', '43', 44, 45]), [true, true, true, false]);
    const raw = new Filter({ keys: 100, kind: 'hashset', hash: 'raw' });
    raw.addMany([1, 2 ** 40 + 5, 3n, '0x10', 2n ** 64n - 1n]);
    assert.deepEqual(raw.list().map(([key]) => key).sort((a, b) => (a < b ? -1 : 1)),
        [1n, 3n, 16n, 2n ** 40n + 5n, 2n ** 64n - 1n]);
    assert.ok(raw.has(16) && raw.has(2 ** 40 + 5) && raw.has(2n ** 64n - 1n) && !raw.has(5));
    assert.ok(raw.hasMany(new BigUint64Array([1n, 3n, 2n ** 64n - 1n])).every(Boolean));
    assert.deepEqual(raw.hasMany(new Uint32Array([1, 3, 4])), [true, true, false]);
    for (const bad of [-1, 1.5, 2 ** 60, 'pear', 2n ** 64n, NaN])
        assert.throws(() => raw.has(bad), RangeError, String(bad));
});

test('what is no key is refused', () => {
    const filter = new Filter({ keys: 10 });
    for (const bad of [undefined, null, {}, [], 1.5, true, Symbol.iterator]) {
        assert.throws(() => filter.has(bad), TypeError);
        assert.throws(() => filter.hasMany([bad]), TypeError);
    }
    for (const bad of ['text', 5, undefined, {}])
        assert.throws(() => filter.addMany(bad), TypeError);
});

test('counts, removes and merges', () => {
    const filter = new Filter({ kind: 'cqf', keys: 1000 });
    filter.add('pear', 3).add('fig').addMany(['pear', 'date']);
    assert.deepEqual(filter.countMany(['pear', 'fig', 'date', 'plum']), [4, 1, 1, 0]);
    assert.equal(filter.count('pear'), 4);
    assert.equal(filter.remove('pear', 2), true);
    assert.equal(filter.removeMany(['fig', 'date']), 2);
    assert.deepEqual(filter.countMany(['pear', 'fig', 'date']), [2, 0, 0]);
    const other = new Filter({ kind: 'cqf', keys: 1000 }).add('pear').add('lime');
    assert.deepEqual(filter.merge(other).countMany(['pear', 'lime']), [3, 1]);
    assert.equal(filter.dot(other), 4);
    assert.equal(filter.subtract(other).count('lime'), 0);
    assert.throws(() => filter.merge(new Filter({ keys: 5000 })), code('MISMATCH'));
    const exact = new Filter({ kind: 'hashset', keys: 10 }).add('fig');
    assert.equal(exact.remove('plum'), false);
});

test('static kinds are built, and take nothing more', () => {
    for (const kind of ['fuse', 'fuse4', 'fuse5', 'xor', 'xorplus', 'ribbon', 'gcs']) {
        const filter = Filter.build(kind, new Set(words(500)));
        assert.ok(filter.hasMany(words(500)).every(Boolean), kind);
        assert.equal(filter.info().count, 500);
        assert.throws(() => filter.add('more'), code('CANNOT'));
    }
    assert.equal(Filter.build('fuse', [...words(500), ...words(500)]).plan().capacity, 500);
});

test('a map gives the value of a key; a cascade is exact over its universe', () => {
    const map = Filter.build('map', new Map(words(200).map((word, i) => [word, i])));
    words(200).forEach((word, i) => assert.equal(map.get(word), i));
    for (const word of words(200, 'absent'))
        assert.equal(map.get(word) !== undefined, map.has(word));
    assert.throws(() => Filter.build('map', [['a', 1], ['a', 2]]), code('CONFLICT'));
    const table = new Filter({ kind: 'hashmap', keys: 10 }).put('a', 7).put('a', 2 ** 40).put('b', 0);
    assert.deepEqual(['a', 'b', 'c'].map(key => table.get(key)), [2 ** 40, 0, undefined]);
    assert.throws(() => table.put('a', -1), RangeError);
    assert.throws(() => map.put('a', 1), code('CANNOT'));
    const others = words(2000, 'other');
    const cascade = Filter.build({ kind: 'cascade', exclude: others }, words(100));
    assert.ok(cascade.hasMany(words(100)).every(Boolean));
    assert.ok(!cascade.hasMany(others).some(Boolean));
});

test('adaptive kinds take a false positive back', () => {
    for (const kind of ['aqf', 'acf']) { // the second may find it by another fingerprint
        const filter = new Filter({ kind, keys: 2000, fpr: 0.05 }).addMany(words(2000));
        const wrong = words(5000, 'absent').filter(word => filter.has(word));
        assert.ok(wrong.length > 0);
        wrong.forEach(word => filter.adapt(word));
        const still = wrong.filter(word => filter.has(word)).length;
        assert.ok(kind === 'aqf' ? still === 0 : still < wrong.length, `${kind}: ${still}`);
        assert.ok(filter.hasMany(words(2000)).every(Boolean));
        const copy = Filter.fromBytes(filter.toBytes());
        assert.deepEqual(copy.hasMany(wrong), filter.hasMany(wrong));
        assert.throws(() => filter.adapt('word-5'), code('PRESENT'));
    }
});

test('plans say what will be, and rates what to expect', () => {
    const wished = { keys: 1e6, fpr: 0.01 };
    const blocked = plan(wished);
    assert.equal(blocked.kind, 'blocked');
    assert.equal(blocked.bytes, 1317120);
    const all = plans(wished);
    assert.deepEqual(all.map(p => p.bytes), all.map(p => p.bytes).sort((a, b) => a - b));
    assert.equal(new Set(all.map(p => p.kind)).size, all.length);
    const [empty, half, full, double] = rates(wished, [0, 5e5, 1e6, 2e6]);
    assert.ok(empty < half && half < full && full <= 0.01 && full < double);
    assert.equal(plan({ kind: 'bloom', bits: 1024, hashes: 3, keys: 100 }).hashes, 3);
    assert.equal(kinds().length, new Set(kinds().map(kind => kind.number)).size);
    assert.match(version, /^\d+\.\d+\.\d+$/);
});

test('info tells of the filter', () => {
    const info = new Filter({ kind: 'counting', keys: 100, fpr: 0.01, seed: 7 }).addMany(words(50)).info();
    assert.equal(info.count, 50);
    assert.equal(info.plan.seed, 7n);
    assert.equal(info.plan.ceiling, 15);
    assert.ok(info.fill > 0 && info.fill < 1 && info.fpr < 0.01 && info.cardinality > 0);
});

test('what cannot be is an error in the words of the library', () => {
    assert.throws(() => new Filter({ kind: 'blom' }), /no kind is called 'blom'/);
    assert.throws(() => new Filter({ keys: 10, size: 3 }), /no option is called 'size'/);
    assert.throws(() => new Filter({ keys: -1 }), RangeError);
    assert.throws(() => new Filter({ keys: NaN }), RangeError);
    assert.throws(() => new Filter({ keys: 10, fpr: 2 }), code('RANGE'));
    assert.throws(() => new Filter({ keys: 1e18 }), code('RANGE'));
    assert.throws(() => new Filter({ keys: 10, can: 'fly' }), /no ability/);
    assert.throws(() => new Filter({ keys: 10, hash: 'md5' }), /no hash/);
    assert.throws(() => new Filter({ keys: 10, secret: new Uint8Array(3) }), /16 bytes/);
    assert.throws(() => new Filter({ kind: 'bloom', keys: 10 }).remove('a'), code('CANNOT'));
    const full = new Filter({ kind: 'cuckoo', keys: 10 });
    assert.throws(() => full.addMany(words(1000)), code('FULL'));
    assert.throws(() => Filter.fromBytes(new Uint8Array(100)), code('FOREIGN'));
    assert.throws(() => Filter.fromBytes('text'), TypeError);
    const image = new Filter({ keys: 1000 }).toBytes();
    image[300] ^= 1;
    assert.throws(() => Filter.fromBytes(image), /damaged: checksum of a block differs/);
});

test('a filter that was freed says so, and another works on', () => {
    const filter = new Filter({ keys: 10 }).add('a');
    const other = filter.clone();
    filter.free();
    filter.free();
    assert.throws(() => filter.has('a'), /freed/);
    assert.throws(() => other.merge(filter), /freed/);
    assert.ok(other.has('a'));
});

test('explain ends with the answer of has', () => {
    for (const kind of kinds()) {
        const keys = keysFor(kind);
        const filter = filterOf(kind, keys.slice(0, 100), { hash: can(kind, 'indexed') ? 'raw' : 'fast' });
        for (const key of keys) {
            const steps = filter.explain(key);
            const last = steps.at(-1);
            assert.equal(last.type, 'answer');
            assert.equal(last.value === 1, filter.has(key), `${kind.name}: ${key}`);
            assert.equal(steps[0].type, 'number');
        }
    }
});

test('cells of a Bloom filter are its bits', () => {
    const filter = new Filter({ kind: 'bloom', bits: 64, hashes: 3, keys: 8 });
    assert.ok(filter.cells().every(cell => cell.value === 0));
    const read = filter.add('pear').explain('pear').filter(step => step.type === 'cell');
    const cells = filter.cells();
    assert.equal(cells.length, filter.plan().slots);
    assert.deepEqual(new Set(cells.filter(cell => cell.value).map(cell => cell.index)),
        new Set(read.map(step => step.cell.index)));
});

test('a module without vectors gives the same bytes and answers', async () => {
    const plain = await load(readFile(new URL('../tamis-plain.wasm', import.meta.url)));
    const options = { kind: 'blocked', keys: 3000, fpr: 0.05, seed: 5 };
    const asked = [...words(3000), ...words(20000, 'absent')];
    const ours = new Filter(options).addMany(words(3000));
    const theirs = new plain.Filter(options).addMany(words(3000));
    assert.deepEqual(theirs.toBytes(), ours.toBytes());
    assert.deepEqual(theirs.hasMany(asked), ours.hasMany(asked));
    assert.deepEqual(asked.map(key => theirs.has(key)), asked.map(key => ours.has(key)));
    assert.ok(ours.hasMany(words(3000)).every(Boolean));
});

test('memory grows, and filters from before are as they were', async () => {
    const library = await load(readFile(new URL('../tamis.wasm', import.meta.url)));
    const first = new library.Filter({ keys: 1000 }).addMany(words(1000));
    const before = library.memory.buffer.byteLength;
    const large = Array.from({ length: 4 }, () => new library.Filter({ kind: 'hashset', keys: 1e6 }));
    assert.ok(library.memory.buffer.byteLength > before + 3e7);
    assert.ok(words(1000).every(word => first.has(word)));
    const grows = new library.Filter({ kind: 'scalable', keys: 100 });
    for (let i = 0; i < 200000; i++)
        grows.add(i);
    assert.ok(grows.has(0) && grows.has(199999));
    large.forEach(filter => filter.free());
});

test('out of memory is an error, and the library lives on', async () => {
    const library = await load(readFile(new URL('../tamis.wasm', import.meta.url)));
    const filter = new library.Filter({ keys: 1000 }).addMany(words(1000));
    const left = 65536 - library.memory.buffer.byteLength / 65536;
    library.memory.grow(left - 40); // 2.5 MiB are left; nothing touches the rest
    assert.throws(() => new library.Filter({ keys: 1e8 }), error => error.code === 'NOMEM');
    assert.throws(() => library.Filter.build('fuse', new BigUint64Array(1e6)), error => error.code === 'NOMEM');
    assert.throws(() => library.Filter.fromBytes(new Uint8Array(1e7)), /out of memory/);
    assert.throws(() => filter.has('x'.repeat(2e6)), error => error.code === 'NOMEM');
    const grows = new library.Filter({ kind: 'scalable', keys: 100 });
    assert.throws(() => {
        for (let i = 0; i < 100; i++)
            grows.addMany(words(20000, `batch-${i}`));
    }, error => error.code === 'NOMEM');
    assert.ok(filter.hasMany(words(1000)).every(Boolean));
    assert.ok(grows.has('batch-0-0'));
});

test('filters that nobody holds are freed', { skip: !globalThis.gc }, async () => {
    const library = await load(readFile(new URL('../tamis.wasm', import.meta.url)));
    for (let i = 0; i < 20; i++) {
        new library.Filter({ kind: 'hashset', keys: 1e6 }); // 9 MB
        globalThis.gc();
        await new Promise(resolve => setTimeout(resolve, 0));
    }
    assert.ok(library.memory.buffer.byteLength < 100e6);
});

test('values of 64 bits come back as they were put, and lists have them', () => {
    const most = 2n ** 64n - 1n;
    const map = Filter.build({ kind: 'hashmap', hash: 'raw' }, [[1, 5], [2, most]]);
    assert.deepEqual([map.get(1), map.get(2), map.get(3)], [5, most, undefined]);
    map.put(3, 2n ** 53n).put(1, 6);
    assert.deepEqual(map.list().sort((a, b) => Number(a[0] - b[0])), [[1n, 6], [2n, most], [3n, 2n ** 53n]]);
    for (const bad of [-1, 1.5, NaN, '5', most + 1n, -1n, undefined]) {
        assert.throws(() => map.put(1, bad), RangeError, String(bad));
        assert.throws(() => Filter.build('hashmap', [['a', bad]]), RangeError, String(bad));
    }
});

test('numbers of times, sizes and secrets of another type are refused', () => {
    const filter = new Filter({ keys: 10, kind: 'counting' }).add('a', 3);
    for (const bad of [-1, 1.5, NaN, Infinity, '2', null]) {
        assert.throws(() => filter.add('a', bad), RangeError, String(bad));
        assert.throws(() => filter.remove('a', bad), RangeError, String(bad));
    }
    assert.equal(filter.count('a'), 3);
    assert.throws(() => new Filter({ keys: ['7'] }), RangeError);
    assert.throws(() => new Filter({ keys: 10, secret: '1234567890123456' }), RangeError);
    assert.throws(() => new Filter({ keys: 10, secret: new Array(16).fill(300) }), RangeError);
    assert.throws(() => new Filter({ keys: 10, hash: 'raw' }).has([5]), TypeError);
});

test('a filter that is freed while its keys are made is not used', () => {
    const freeing = function* (filter) {
        yield 'a';
        filter.free();
    };
    for (const call of ['addMany', 'hasMany', 'countMany', 'removeMany', 'peeling']) {
        const filter = new Filter({ keys: 10, kind: 'counting' });
        assert.throws(() => filter[call](freeing(filter)), /freed/, call);
    }
});

test('a cell without a bit left is marked as void', () => {
    const filter = new Filter({ kind: 'aleph', keys: 1, fpr: 0.1, load: 0.5 }).addMany(words(3000));
    const voids = filter.cells().filter(cell => cell.marks.includes('void'));
    assert.ok(voids.length > 0 && voids.every(cell => cell.value === 0));
});
