/* bench.js [KEYS]: how long does one question take, beside other filters of npm?
 *
 * In one process, the same keys for all: as many that are there as others, at a rate of 1 %. Peers
 * have a row if they are installed ('npm install' in this folder). A row is the best of several
 * rounds; each asks every key. The slowest peer is asked for fewer. */
import { Filter } from './index.js';

const KEYS = Number(process.argv[2] ?? 1e6);
const ROUNDS = 5;
const FPR = 0.01;

const hex = i => (Math.imul(i, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
const SHAPES = {
    'integer': i => i * 7919,
    'short text': i => `key-${i}`,
    'UUID': i => `${hex(i)}-${hex(i + 1).slice(4)}-4${hex(i + 2).slice(5)}-8${hex(i + 3).slice(5)}-${hex(i + 4)}${hex(i + 5).slice(4)}`,
    'address': i => `https://example.org/articles/2024/${i % 12}/a-page-with-a-title-${i}.html`,
    'text of 200': i => `${i}${'-a-long-line-of-a-log-file'.repeat(8)}`.slice(0, 200),
};

async function peer(name) {
    try {
        return await import(name);
    } catch {
        console.log(`${name} is not installed: no row`);
        return null;
    }
}

const bloomfilter = await peer('bloomfilter');
const bloomFilters = await peer('bloom-filters');

/** Each makes a filter of these keys and returns a function that counts how many of a list it has. */
function each(has) {
    return list => {
        let found = 0;
        for (let i = 0; i < list.length; i++)
            found += has(list[i]) ? 1 : 0;
        return found;
    };
}

function filled(keys) {
    const raw = typeof keys[0] === 'number' ? { hash: 'raw' } : {};
    return new Filter({ keys: keys.length, fpr: FPR, kind: 'blocked', ...raw }).addMany(keys);
}

const SUBJECTS = [
    ['tamis has', Infinity, keys => {
        const filter = filled(keys);
        return each(key => filter.has(key));
    }],
    ['tamis hasMany', Infinity, keys => {
        const filter = filled(keys);
        return list => {
            let found = 0;
            for (const there of filter.hasMany(list))
                found += there ? 1 : 0;
            return found;
        };
    }],
    bloomfilter && ['bloomfilter', Infinity, keys => {
        const filter = bloomfilter.BloomFilter.withTargetError(keys.length, FPR);
        keys.forEach(key => filter.add(key));
        return each(key => filter.test(key));
    }],
    bloomFilters && ['bloom-filters', 10000, keys => {
        const filter = bloomFilters.default.BloomFilter.create(KEYS, FPR);
        keys.forEach(key => filter.add(String(key)));
        return each(key => filter.has(String(key)));
    }],
].filter(Boolean);

/** A copy in one piece: texts made by joining others are put together when they are first read. */
const flat = key => (typeof key === 'string' ? Buffer.from(key).toString() : key);
const listOf = (shape, from, n) => Array.from({ length: n }, (_, i) => flat(shape(from + i)));

function measure([name, most, make], present, absent) {
    const keys = present.slice(0, most), others = absent.slice(0, most);
    const count = make(keys);
    let best = Infinity, found = 0, wrong = 0;
    for (let round = 0; round < ROUNDS; round++) {
        const start = process.hrtime.bigint();
        found = count(keys);
        wrong = count(others);
        best = Math.min(best, Number(process.hrtime.bigint() - start) / (2 * keys.length));
    }
    return { name, best, lost: keys.length - found, rate: wrong / others.length };
}

const cell = (text, width) => String(text).padStart(width);
console.log(`${cell('keys', 12)} ${cell('filter', 14)} ${cell('ns/key', 8)} ${cell('of tamis', 9)}`
    + ` ${cell('lost', 5)} ${cell('rate', 8)}`);
let lost = 0;
for (const [shape, make] of Object.entries(SHAPES)) {
    const present = listOf(make, 0, KEYS), absent = listOf(make, 10 * KEYS, KEYS);
    const rows = SUBJECTS.map(subject => measure(subject, present, absent));
    for (const row of rows) {
        lost += row.name.startsWith('tamis') ? row.lost : 0;
        console.log(`${cell(shape, 12)} ${cell(row.name, 14)} ${cell(row.best.toFixed(1), 8)}`
            + ` ${cell(`${(row.best / rows[0].best).toFixed(1)}x`, 9)} ${cell(row.lost, 5)} ${cell(row.rate.toFixed(5), 8)}`);
    }
}
process.exitCode = lost ? 1 : 0;
