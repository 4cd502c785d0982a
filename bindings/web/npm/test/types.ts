/* types.ts - compiled, not run: what index.d.ts promises can be written so. */
import { Filter, kinds, load, plan, TamisError, type Cell, type Step } from '../index.js';

const filter: Filter = new Filter({ kind: 'cqf', keys: 1000, fpr: 0.01, seed: 1n, can: ['remove'] });
const there: boolean = filter.add('a').add(1).add(2n).add(new Uint8Array(3)).has('a');
const many: boolean[] = filter.hasMany(new Set(['a', 'b']));
const counts: number[] = filter.countMany(['a', 1, 2n]);
const map: Filter = Filter.build({ kind: 'map', valueBits: 7 }, new Map([['a', 1]]));
const value: number | bigint | undefined = map.get('a');
const copy: Filter = Filter.fromBytes(filter.toBytes()).merge(filter);
const cells: Cell[] = copy.cells();
const steps: Step[] = copy.explain('a');
for (const step of steps)
    if (step.type === 'cell')
        console.log(step.cell.array, step.agrees);
console.log(there, many, counts, value, cells, kinds()[0].name, plan({ keys: 1 }).bytes);
load().then(library => new library.Filter().free());
try {
    filter.remove('a');
} catch (error) {
    if (error instanceof TamisError)
        console.log(error.code);
}
// @ts-expect-error a key is no object
filter.add({});
// @ts-expect-error a rate is a number
new Filter({ fpr: 'low' });
