/* golden.mjs ROOT MODULE CLI: images of this and every earlier release, in the WebAssembly module.
 *
 * Every file of tests/golden/good is read and written to the same bytes, its keys are found and the
 * frozen answers for absent ones are given; building the keys anew makes the same bytes. So do those
 * of tests/golden/future as far as they can, and each of tests/golden/bad is refused with the status
 * that expected.txt demands. The native library passes the same test in golden.good and golden.bad.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const [root, module] = process.argv.slice(2);
const { Filter, kinds, TamisError } = await import(join(module, 'index.js'));
const golden = name => join(root, 'tests', 'golden', name);

/** What tests/golden/good.c makes of each kind: the options, and how many absent keys it lists. */
const secret = Uint8Array.from({ length: 16 }, (_, i) => 0xa0 + 7 * i);
const VARIANTS = {
    empty: [{ keys: 20 }, 60],
    small: [{ keys: 26 }, 100],
    loaded: [{ keys: 150 }, 200],
    seed: [{ keys: 60, seed: 0x0123456789abcdefn }, 150],
    keyed: [{ keys: 60, secret }, 150],
    raw: [{ keys: 60, hash: 'raw' }, 150],
    'raw-seed': [{ keys: 60, hash: 'raw', seed: 77 }, 150],
    page: [{ keys: 75000 }, 40],
    levels: [{ keys: 4200 }, 200],
    grown: [{ keys: 2 }, 200],
    adapted: [{ keys: 150 }, 400],
    narrow: [{ keys: 60, counterBits: 3 }, 150],
};

/** Lines as bytes: some are not UTF-8. */
function linesOf(path) {
    const all = readFileSync(path), lines = [];
    for (let from = 0; from < all.length;) {
        const end = all.indexOf(10, from);
        lines.push(new Uint8Array(all.subarray(from, end)));
        from = end + 1;
    }
    return lines;
}

const keyOf = (line, isRaw) => (isRaw ? BigInt(Buffer.from(line).toString()) : line);
const sameBytes = (a, b) => Buffer.compare(a, b) === 0;

function filesOf(folder) {
    return readdirSync(golden(folder)).filter(name => name.endsWith('.tamis')).map(name => {
        const stem = join(golden(folder), name.slice(0, -6));
        return { name, stem, image: new Uint8Array(readFileSync(`${stem}.tamis`)) };
    });
}

function checkAnswers({ name, stem }, filter) {
    const isRaw = filter.plan().hash === 'raw';
    const keys = linesOf(`${stem}.keys`).map(line => keyOf(line, isRaw));
    const absent = linesOf(`${stem}.absent`).map(line => {
        const yes = line[0] === 'y'.charCodeAt(0);
        return [keyOf(line.subarray(yes ? 4 : 3), isRaw), yes];
    });
    const list = [...keys, ...absent.map(([key]) => key)];
    const wanted = [...keys.map(() => true), ...absent.map(([, yes]) => yes)];
    assert.deepEqual(list.map(key => filter.has(key)), wanted, name);
    assert.deepEqual(filter.hasMany(list), wanted, name);
    assert.equal(filter.info().count, keys.length, name);
    if (filter.plan().abilities.includes('get'))
        assert.deepEqual(keys.map(key => filter.get(key)), keys.map((_, i) => valueOf(i)), name);
    filter.verify();
    return { keys, absent: absent.map(([key]) => key) };
}

const valueOf = i => (i * 37 + 5) % 128;

/** The longest kind whose name begins the file's: cuckoo-buckets-small is no cuckoo. */
function kindOf(name) {
    return kinds().filter(kind => name.startsWith(`${kind.name}-`))
        .sort((a, b) => b.name.length - a.name.length)[0];
}

function rebuild(name, { keys, absent }) {
    const kind = kindOf(name), can = ability => kind.abilities.includes(ability);
    const [wished, listed] = VARIANTS[name.slice(kind.name.length + 1, -6)];
    const options = { kind: kind.name, fpr: can('exact') || can('exclude') ? 0 : 0.05, ...wished };
    if (can('indexed'))
        delete options.secret;
    if (can('exclude') || name.endsWith('-adapted.tamis'))
        Object.assign(options, { exclude: absent.slice(0, listed / 2),
            universe: can('exclude') ? options.keys + listed / 2 : 0 });
    return can('get') ? Filter.build({ ...options, valueBits: 7 }, keys.map((key, i) => [key, valueOf(i)]))
        : Filter.build(options, keys);
}

test('good images keep their bytes and answers, and are built to the same bytes', () => {
    const files = filesOf('good');
    assert.ok(files.length > 200);
    assert.deepEqual(new Set(files.map(file => kindOf(file.name).name)), new Set(kinds().map(kind => kind.name)));
    for (const file of files) {
        const filter = Filter.fromBytes(file.image);
        assert.ok(sameBytes(filter.toBytes(), file.image), `${file.name}: written with other bytes`);
        const lines = checkAnswers(file, filter);
        const built = rebuild(file.name, lines);
        assert.ok(sameBytes(built.toBytes(), file.image), `${file.name}: built with other bytes`);
        filter.free();
        built.free();
    }
});

test('images of later releases are read', () => {
    for (const file of filesOf('future'))
        checkAnswers(file, Filter.fromBytes(file.image));
});

test('bad images are refused with the status that is expected', () => {
    const expected = new Map(readFileSync(join(golden('bad'), 'expected.txt'), 'utf8').trim().split('\n')
        .map(line => line.split(/ +/)));
    for (const { name, image } of filesOf('bad'))
        assert.throws(() => Filter.fromBytes(image),
            error => error instanceof TamisError && error.code === expected.get(name), name);
});

test('no bit of a small image can be flipped unnoticed', () => {
    const image = new Uint8Array(readFileSync(join(golden('good'), 'cqf-small.tamis')));
    for (let bit = 0; bit < image.length * 8; bit++) {
        const torn = image.slice();
        torn[bit >> 3] ^= 1 << (bit & 7);
        assert.throws(() => Filter.fromBytes(torn), TamisError, `bit ${bit}`);
    }
});
