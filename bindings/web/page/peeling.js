/* peeling.js - the cells of a filter while it is peeled and filled: what the steps so far leave. */
import { idOf } from './picture.js';

/** How many keys still touch each cell, by its id. */
function touching(steps) {
    const keys = new Map();
    for (const { type, key, cells } of steps)
        for (const cell of cells) {
            const id = idOf(cell);
            if (type === 'touches')
                keys.set(id, (keys.get(id) ?? new Set()).add(key));
            else
                keys.get(id)?.delete(key);
        }
    return keys;
}

const ownedBy = (steps, wanted) => new Set(steps.filter(({ type }) => type === wanted)
    .map(step => idOf(step.cells[step.own])));

/** Cells as they are drawn after these steps: first with the number of keys that touch them, then
 * with what they hold, as far as they are filled. Those that nobody owns hold it all the time. */
export function peeledCells(cells, steps) {
    const isFilling = steps.at(-1).type === 'fills';
    const keys = touching(steps), owned = ownedBy(steps, 'takes'), filled = ownedBy(steps, 'fills');
    const touched = new Set(steps.flatMap(step => step.cells.map(cell => cell.array)));
    return cells.filter(cell => touched.has(cell.array)).map(cell => {
        const id = idOf(cell), n = keys.get(id)?.size ?? 0;
        const isEmpty = isFilling ? owned.has(id) && !filled.has(id) : n === 0;
        return { ...cell, value: isFilling ? cell.value : n, marks: isEmpty ? ['empty'] : [] };
    });
}

/** What the last step does, for the picture. */
export function peelReads(steps) {
    const { type, cells, own } = steps.at(-1);
    if (type === 'touches' || type === 'leaves')
        return cells.map(cell => ({ cell, says: 'touched', agrees: true }));
    const others = cells.filter((_, i) => i !== own);
    return [...others.map(cell => ({ cell, says: 'touched', agrees: false })),
        { cell: cells[own], says: type === 'takes' ? 'owned' : 'filled', agrees: true }];
}
