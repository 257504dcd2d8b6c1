import { createStreamProgress } from '../../src/protocols/formats/format.ts'
import { StreamSample } from '../../src/request/codec/stream-sample.ts'
import { StreamTail } from '../../src/request/codec/stream-tail.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the tail of a stream')

/** Creates an event of this many bytes that starts with this number. */
const getEvent = (number: number, bytes: number) => `data: ${`${number} `.padEnd(bytes - 8, '.')}\n\n`

/** Creates a tail, and returns the numbers of the events it kept. */
function tailOf(pieces: readonly string[]): number[] {
  const seen: number[] = []
  const tail = new StreamTail(
    { ...createStreamProgress(), observe: ({ data }) => seen.push(Number.parseInt(data, 10)) },
    new StreamSample(() => 0),
  )
  for (const piece of pieces) tail.add(Buffer.from(piece))
  tail.observe()
  return seen
}

for (const [label, sizes, kept] of [
  ['the tail of a single small event contains that event', [100], [0]],
  ['the tail of a single large event contains that event', [5_000], [0]],
  ['the tail of two large events contains both', [5_000, 70_000], [0, 1]],
  ['the tail of four large events contains the last two', [5_000, 5_000, 5_000, 5_000], [2, 3]],
  ['the tail of large events and a small one contains the last three', [5_000, 5_000, 5_000, 200], [1, 2, 3]],
  ['the tail of small events and a large one contains all three', [200, 200, 5_000], [0, 1, 2]],
  [
    'the tail of events that exactly fill the blocks contains the last five',
    [1_024, 1_024, 1_024, 1_024, 1_024, 1_024],
    [1, 2, 3, 4, 5],
  ],
  [
    'the tail contains the last four after one more event',
    [1_024, 1_024, 1_024, 1_024, 1_024, 1_024, 1_024],
    [3, 4, 5, 6],
  ],
] as const) {
  test(label, () => {
    assert.equal(tailOf(sizes.map((size, number) => getEvent(number, size))), kept)
  })
}

test('the tail of a stream has its last five events or two chunks, once and in order', () => {
  const random = createRandom()
  for (let run = 0; run < 500; run++) {
    let number = 0
    const sizes = Array.from(
      { length: 2 + random.below(60) },
      () => 20 + random.below(random.next() < 0.2 ? 4_000 : 400),
    )
    const end = ['\n', '\r\n', '\r'][random.below(3)] ?? '\n'
    const events = sizes.map((size) => getEvent(number++, size).replaceAll('\n', end))
    const pieces: string[] = []
    while (events.length > 0) pieces.push(events.splice(0, 1 + random.below(12)).join(''))
    const least = Math.min(5, pieces.slice(-2).join('').split('data:').length - 1)
    const kept = tailOf(pieces)
    const content = `seed ${random.seed}, run ${run}`
    assert.ok(kept.length >= least, content)
    assert.equal(
      kept,
      Array.from({ length: kept.length }, (_, index) => number - kept.length + index),
      content,
    )
  }
})

test('the tail of a stream is short again after a large event', () => {
  const kept = tailOf([
    getEvent(0, 1e6),
    getEvent(1, 1e6),
    ...Array.from({ length: 500 }, (_, index) => getEvent(index + 2, 200)),
  ])
  assert.ok(kept.length < 25, `${kept.length} events`)
  assert.is(kept.at(-1), 501)
})

test("overwriting the chunks later doesn't change the tail of a stream", () => {
  const seen: string[] = []
  const tail = new StreamTail(
    { ...createStreamProgress(), observe: ({ data }) => seen.push(data) },
    new StreamSample(() => 0),
  )
  const events = [20, 3_000, 3_000].map((size) => `data: ${'x'.repeat(size)}`)
  for (const event of events) {
    const piece = new TextEncoder().encode(`${event}\n\n`)
    tail.add(piece)
    if (event === events[1]) structuredClone(piece, { transfer: [piece.buffer] })
    else piece.fill(0)
  }
  tail.observe()
  assert.equal(
    seen.map((data) => `data: ${data}`),
    events.slice(1),
  )
})

test('the tail of a stream observes each event only once', () => {
  const seen: string[] = []
  const tail = new StreamTail(
    { ...createStreamProgress(), observe: ({ data }) => seen.push(data) },
    new StreamSample(() => 0),
  )
  for (const piece of ['data: 1\n\n', `data: ${'2'.repeat(3_000)}\n\n`]) tail.add(Buffer.from(piece))
  tail.observe()
  tail.observe()
  assert.is(seen.length, 2)
  tail.add(Buffer.from('data: 3\n\n'))
  tail.observe()
  assert.equal(seen.slice(2), ['3'])
})
