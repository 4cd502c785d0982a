/* exchange.mjs ROOT MODULE CLI: an image is the same to the command line and to JavaScript.
 *
 * For every kind, the same lines give the same bytes on both sides, and each side answers about the
 * image of the other as about its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const [, module, cli] = process.argv.slice(2);
const { Filter, kinds } = await import(join(module, 'index.js'));

/** Different lines, so that every kind has one of each; some are not ASCII. */
const lines = Array.from({ length: 500 }, (_, i) => (i % 7 ? `line ${i}` : `Zeile ${i}: äöü €`));
const absent = Array.from({ length: 2000 }, (_, i) => `absent ${i}`);
const numbers = lines.map((_, i) => String(i * 3));

/** Nothing is printed to exit code 1; anything above is a failure. */
function run(args, input = []) {
    const done = spawnSync(cli, args, { input: input.map(line => `${line}\n`).join(''), encoding: 'utf8' });
    assert.ok(done.status === 0 || done.status === 1, `${args.join(' ')}: ${done.stderr}`);
    return done.stdout.split('\n').filter(Boolean);
}

const can = (kind, ability) => kind.abilities.includes(ability);
const image = name => new Uint8Array(readFileSync(name));
/** Kinds that take lines alone; the two others have tests of their own below. */
const plain = kinds().filter(kind => !can(kind, 'get') && !can(kind, 'exclude'));

function optionsOf(kind) {
    return can(kind, 'indexed') ? { keys: 6000 } : can(kind, 'exact') ? { keys: 500 } : { keys: 500, fpr: 0.02 };
}

function buildByCli(kind, keys, name) {
    const { keys: n, fpr } = optionsOf(kind);
    run(['build', '-k', kind.name, '-n', String(n), ...(fpr ? ['-p', String(fpr)] : []), '-o', name], keys);
}

const keysFor = kind => (can(kind, 'indexed') ? numbers : lines);
const askedFor = kind => (can(kind, 'indexed')
    ? Array.from({ length: 6000 }, (_, i) => String(i)) : [...lines, ...absent]);

for (const kind of plain)
    test(`${kind.name}: built by either, answered alike by both`, () => {
        const keys = keysFor(kind), asked = askedFor(kind);
        buildByCli(kind, keys, 'cli.tamis');
        const theirs = Filter.fromBytes(image('cli.tamis'));
        const ours = Filter.build({ kind: kind.name, ...optionsOf(kind) }, keys);
        writeFileSync('js.tamis', ours.toBytes());
        assert.deepEqual(run(['verify', 'js.tamis']), ['js.tamis: ok']);
        assert.deepEqual(ours.plan(), theirs.plan());
        if (kind.name !== 'cuckoo') // where a builder moves keys at other times than tamis_build()
            assert.ok(Buffer.compare(ours.toBytes(), theirs.toBytes()) === 0, 'other bytes');
        for (const [filter, name] of [[ours, 'js.tamis'], [theirs, 'cli.tamis']]) {
            const found = run(['query', name], asked), answers = filter.hasMany(asked);
            assert.deepEqual(asked.filter((_, i) => answers[i]), found);
        }
        assert.ok(keys.every(key => theirs.has(key)), 'a key is lost');
    });

for (const kind of plain.filter(kind => can(kind, 'count') && can(kind, 'add')))
    test(`${kind.name}: counts of one are those of the other`, () => {
        const ours = new Filter({ kind: kind.name, keys: 1500, fpr: 0.02 });
        lines.forEach((line, i) => ours.addMany(Array(1 + i % 2).fill(line)));
        writeFileSync('counts.tamis', ours.toBytes());
        const { ceiling } = ours.plan();
        const shown = ours.countMany(lines).map(count => (count < ceiling ? count : `${count}+`));
        assert.deepEqual(run(['count', 'counts.tamis'], lines), lines.map((line, i) => `${shown[i]}\t${line}`));
    });

for (const kind of plain.filter(kind => can(kind, 'adapt')))
    test(`${kind.name}: what one side took back, the other knows`, () => {
        buildByCli(kind, lines, 'adapt.tamis');
        const before = run(['query', 'adapt.tamis'], absent);
        assert.ok(before.length > 0, 'no false positive to take back');
        run(['adapt', 'adapt.tamis'], before.slice(0, before.length / 2));
        const filter = Filter.fromBytes(image('adapt.tamis'));
        const after = () => run(['query', 'adapt.tamis'], absent);
        assert.deepEqual(absent.filter(key => filter.has(key)), after());
        after().forEach(key => filter.adapt(key));
        writeFileSync('adapt.tamis', filter.toBytes());
        assert.deepEqual(absent.filter(key => filter.has(key)), after());
        assert.deepEqual(run(['query', 'adapt.tamis'], lines), lines);
    });

test('map: values of one are those of the other', () => {
    run(['build', '-k', 'map', '-n', '500', '--value-bits', '9', '--values-field', '2', '-o', 'map.tamis'],
        lines.map((line, i) => `${line}\t${i}`));
    const theirs = Filter.fromBytes(image('map.tamis'));
    const ours = Filter.build({ kind: 'map', keys: 500 }, lines.map((line, i) => [line, i]));
    assert.deepEqual(lines.map(line => theirs.get(line)), lines.map((_, i) => i));
    assert.deepEqual(lines.map(line => ours.get(line)), lines.map((_, i) => i));
    assert.ok(Buffer.compare(ours.toBytes(), theirs.toBytes()) === 0, 'other bytes');
});

test('keys from a secret or a seed are the same on both sides', () => {
    run(['build', '-k', 'hashset', '-n', '500', '--seed', '123456789012345', '-o', 'seed.tamis'], lines);
    const filter = Filter.fromBytes(image('seed.tamis'));
    assert.equal(filter.plan().seed, 123456789012345n);
    assert.ok(filter.hasMany(lines).every(Boolean) && !filter.hasMany(absent).some(Boolean));
    const ours = new Filter({ kind: 'hashset', keys: 500, secret: Uint8Array.from({ length: 16 }, (_, i) => i + 1) });
    writeFileSync('keyed.tamis', ours.addMany(lines).toBytes());
    assert.deepEqual(run(['query', 'keyed.tamis'], [...absent, ...lines]), lines);
});
