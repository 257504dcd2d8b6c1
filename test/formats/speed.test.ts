import { translateStream } from '../../src/formats/translate-stream.ts'
import { encodeUtf8 } from '../../src/lib/bytes.ts'
import { wireFormats } from '../../src/lib/unions.ts'
import { assert, suite } from '../support/suite.ts'
import { contexts } from './support/contexts.ts'
import { longStreams } from './support/long-streams.ts'
import { printMatrix, translatorOf } from './support/matrix.ts'

const test = suite('the cost of translating a stream of 100 events')

/** So many times the parsing of the events' JSON at most. */
const MOST = 3
const ROUNDS = 30_000

const rates = new Map<string, string>()

for (const from of wireFormats)
  for (const to of wireFormats)
    test(`${from} for ${to}: at most three times the parsing of their JSON`, { timeoutMs: 60_000 }, async () => {
      const [source, client] = await Promise.all([translatorOf(from), translatorOf(to)])
      const payloads = longStreams[from].map(([, payload]) => JSON.stringify(payload))
      const pieces = longStreams[from].map(([event], index) =>
        encodeUtf8(`${event ? `event: ${event}\n` : ''}data: ${payloads[index]}\n\n`),
      )
      const { read, write } = contexts(source)
      let written = 0
      let parsed = 0
      function translate() {
        const stream = translateStream({ from: source, to: client, read, write: write() }, (event) => {
          written += event.length
        })
        for (const piece of pieces) stream.push(piece)
        stream.end()
      }
      function parse() {
        for (const payload of payloads) parsed += Object.keys(JSON.parse(payload)).length
      }
      const ratio = ratioOf(translate, parse)
      rates.set(`${from} ${to}`, ratio.toFixed(2))
      assert.ok(written > 0 && parsed > 0)
      assert.ok(ratio <= MOST, `it costs ${ratio.toFixed(2)} times as much`)
    })

/**
 * By the least time that each has taken, in turns: what else the machine does only adds to a time. Ends when it is clear, and only a
 * machine without a quiet moment needs all rounds.
 */
function ratioOf(one: () => void, other: () => void): number {
  let first = Number.POSITIVE_INFINITY
  let second = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    first = Math.min(first, time(one))
    second = Math.min(second, time(other))
    if (round > 100 && round % 50 === 0 && first / second <= MOST) break
  }
  return first / second
}

function time(run: () => void): number {
  const start = performance.now()
  run()
  return performance.now() - start
}

test.after(() => printMatrix(rates))
