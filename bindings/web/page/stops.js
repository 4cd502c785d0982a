/* stops.js - the stops of the tour: what to read, a small filter, and what to try with it.
 *
 * `tries` are buttons; what they do is in terms of the live filter that the stop has. */

const add =
    (...words) =>
    bench =>
        words.forEach(word => bench.add(word));
const ask = word => bench => bench.ask(word);
const remove = word => bench => bench.remove(word);
const peel = bench => bench.peel();
const lie = bench => bench.findFalsePositive();

export const STOPS = [
    {
        name: 'bitmap',
        short: 'Bitmap',
        title: 'A bit for every possible key',
        options: { kind: 'bitmap', keys: 10, fpr: 0.01 },
        text: [
            'Begin with a set of small numbers. Keep one bit for each number that could ' +
                'come: 1 means that it is in the set. Adding, removing and asking touch a ' +
                'single bit, and no answer is ever wrong.',
            'The price is a bit for every possible key, whether it is there or not. That ' +
                'is fine for ten numbers and out of the question for words or addresses.',
        ],
        tries: [
            ['Add 4, then 8, then 1', add('4', '8', '1')],
            ['Remove 8', remove('8')],
            ['Ask for 8', ask('8')],
            ['Add 12, which is too large', add('12')],
        ],
    },
    {
        name: 'hash-table',
        short: 'Hash table',
        title: 'A place for every key there is',
        options: { kind: 'hashset', keys: 8, fpr: 0.01 },
        words: ['ada', 'grace'],
        text: [
            'A hash function turns any word into a number that looks random. A table uses ' +
                'it to choose a slot, and keeps the whole number there. Two words that want ' +
                'the same slot are neighbours: the second takes the next free one.',
            'Answers are exact again, now for words. But each key takes 64 bits, and the ' +
                'empty slots between them. Everything that follows is a way to keep less.',
        ],
        tries: [
            ['Add alan, barbara and donald', add('alan', 'barbara', 'donald')],
            ['Ask for alan', ask('alan')],
            ['Ask for niklaus', ask('niklaus')],
        ],
    },
    {
        name: 'bloom',
        short: 'Bloom',
        title: 'Bloom filter: a few bits for each key',
        options: { kind: 'bloom', keys: 8, bits: 40, hashes: 3 },
        words: ['apple', 'pear', 'plum'],
        text: [
            'Give up the key itself. Take several hash functions, and set one bit for ' +
                'each. To ask, look at the same bits: if one of them is 0, the word was never ' +
                'added. That no is certain.',
            'If all are 1, the word was probably added. Or others set these bits by ' +
                'chance: a false positive. The fuller the array, the more often that happens. ' +
                'No word can be removed, as its bits may belong to others too.',
        ],
        tries: [
            ['Ask for pear', ask('pear')],
            ['Ask for lemon', ask('lemon')],
            ['Add five more words', add('cherry', 'quince', 'fig', 'date', 'grape')],
            ['Find a false positive', lie],
            ['Try to remove pear', remove('pear')],
        ],
    },
    {
        name: 'counting',
        short: 'Counting',
        title: 'Counting: so that keys can go again',
        options: { kind: 'counting', keys: 8, bits: 32, hashes: 3 },
        words: ['apple', 'pear', 'plum', 'pear'],
        text: [
            'Put a small counter where the Bloom filter has a bit. Adding counts up, ' +
                'removing counts down, and a counter above 0 is a bit that is set. The ' +
                'smallest counter of a word tells how often it came, or a little more.',
            'Four bits per counter are usually enough, but that is four times the room. ' +
                'And whoever removes a word that was never added takes a count away from ' +
                'others, who are then missed.',
        ],
        tries: [
            ['Ask for pear, which came twice', ask('pear')],
            ['Remove pear', remove('pear')],
            ['Remove pear again', remove('pear')],
            ['Add plum three times', add('plum', 'plum', 'plum')],
        ],
    },
    {
        name: 'quotient',
        short: 'Quotient',
        title: 'Quotient filter: a sorted table of remainders',
        options: { kind: 'quotient', keys: 12, fpr: 0.05 },
        words: ['amsterdam', 'berlin', 'london', 'madrid', 'ankara', 'lisbon'],
        text: [
            'Cut the hash of a word in two. The quotient says at which slot the word is at ' +
                'home, and only the remainder is kept there. Remainders of one home stand side ' +
                'by side, as a run, in order; if there is no room, they push the next ones to ' +
                'the right.',
            'Three bits in each slot tell what was pushed where, so that every quotient ' +
                'can be worked out again. That is why this filter can list what it holds, ' +
                'double its size, and be merged, all without the words.',
        ],
        tries: [
            ['Ask for madrid', ask('madrid')],
            ['Add paris, rome and vienna', add('paris', 'rome', 'vienna')],
            ['Remove berlin', remove('berlin')],
            ['Find a false positive', lie],
        ],
    },
    {
        name: 'cuckoo',
        short: 'Cuckoo',
        title: 'Cuckoo filter: two nests for each key',
        options: { kind: 'cuckoo-buckets', keys: 16, fpr: 0.05 },
        words: ['robin', 'wren', 'finch', 'swift', 'heron'],
        text: [
            'Keep a short tag of each word in one of two buckets, the emptier one. If both ' +
                'are full, throw a tag out, and let it go to its other bucket: from the tag ' +
                'and the bucket where it lies, that one can be worked out without the word.',
            'To ask is to look for the tag in two places. To remove is to clear it. The ' +
                'table can be nineteen parts in twenty full before no nest is found.',
        ],
        tries: [
            ['Ask for wren', ask('wren')],
            ['Add six more birds', add('crane', 'stork', 'raven', 'eagle', 'dove', 'lark')],
            ['Remove finch', remove('finch')],
            ['Find a false positive', lie],
        ],
    },
    {
        name: 'xor',
        short: 'Xor',
        title: 'Xor filter: peel, then fill',
        options: { kind: 'xor', keys: 8, fpr: 0.05 },
        words: ['oak', 'elm', 'ash', 'fir', 'yew', 'lime'],
        text: [
            'If all words are known beforehand, there is a smaller way. Each word has ' +
                'three slots, and the three together, combined by exclusive or, must give its ' +
                'fingerprint.',
            'To find such numbers, peel: a slot that only one word uses can be set last, ' +
                'for that word alone. Put the word aside; others may now be alone somewhere. ' +
                'When all are peeled, fill the slots in the opposite order.',
        ],
        tries: [
            ['Peel it, step by step', peel],
            ['Ask for elm', ask('elm')],
            ['Ask for pine', ask('pine')],
            ['Add pine: all is made anew', add('pine')],
        ],
    },
    {
        name: 'fuse',
        short: 'Binary fuse',
        title: 'Binary fuse filter: peel in a wave',
        options: { kind: 'fuse', keys: 8, fpr: 0.05 },
        words: ['oak', 'elm', 'ash', 'fir', 'yew', 'lime'],
        text: [
            'The same idea with one change: the three slots of a word are close to each ' +
                'other, two in one block and the third in a block not far before it. Where a ' +
                'row of blocks ends, few words meet: peeling begins there and runs through the ' +
                'row like a wave, and works with fewer slots.',
            'For large sets that is 13 % above the least possible size, where a xor filter ' +
                'takes 22 %. And a question reads two places in memory, not three.',
        ],
        tries: [
            ['Peel it, step by step', peel],
            ['Ask for elm', ask('elm')],
            ['Remove oak: all is made anew', remove('oak')],
            ['Find a false positive', lie],
        ],
    },
    {
        name: 'ribbon',
        short: 'Ribbon',
        title: 'Ribbon filter: a narrow band of equations',
        options: { kind: 'ribbon', keys: 12, fpr: 0.05 },
        words: ['red', 'green', 'blue', 'black', 'white', 'amber'],
        text: [
            'Every word is an equation: some of the slots in a short window, combined by ' +
                'exclusive or, must give its fingerprint. Windows are narrow, so the equations ' +
                'form a band, a ribbon, and are solved in one pass from one end to the other.',
            'Hardly a bit is wasted: for large sets, half a percent above the least ' +
                'possible size. In return, a question reads a whole window.',
        ],
        tries: [
            ['Ask for blue', ask('blue')],
            ['Ask for pink', ask('pink')],
            ['Add pink: all is made anew', add('pink')],
        ],
    },
    {
        name: 'adaptive',
        short: 'Adaptive',
        title: 'Adaptive filter: no mistake twice',
        options: { kind: 'aqf', keys: 12, fpr: 0.05 },
        words: ['mercury', 'venus', 'earth', 'mars', 'jupiter', 'saturn'],
        text: [
            'Other filters make the same mistake again and again. This one can be told: it ' +
                'takes more bits of the word that was confused with the stranger, until the ' +
                'two differ.',
            'It must be able to look up the words themselves, in a slow store beside it. ' +
                'But somebody who asks for the same stranger a million times costs one ' +
                'mistake, not a million.',
        ],
        tries: [
            ['Find a false positive', lie],
            ['Tell the filter, if it is wrong', bench => bench.tellWrong()],
            ['Ask again', bench => bench.askAgain()],
            ['Ask for mars', ask('mars')],
        ],
    },
    {
        name: 'sketch',
        short: 'Sketches',
        title: 'Sketches: how often, not only whether',
        options: { kind: 'countmin', keys: 8, fpr: 0.1 },
        words: ['the', 'cat', 'the', 'dog', 'the', 'end'],
        text: [
            'A Count-Min sketch has a few rows of counters. A word has one counter in each ' +
                'row, and raises it each time it comes. Others share some of these counters, ' +
                'so each may be too high, but none is ever too low: the smallest is the best.',
            'It counts a stream of any length in memory that was set beforehand. That is ' +
                'the end of the tour. On the next page, every other kind is waiting.',
        ],
        tries: [
            ['Ask for the', ask('the')],
            ['Let cat come five times', add('cat', 'cat', 'cat', 'cat', 'cat')],
            ['Ask for cat', ask('cat')],
            ['Ask for bird', ask('bird')],
        ],
    },
];
