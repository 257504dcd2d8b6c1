import process from 'node:process'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { translateStream } from '../../../src/protocols/formats/translate-stream.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { contexts } from './contexts.ts'
import { longStreams } from './long-streams.ts'
import { getTranslator } from './matrix.ts'

/*
 * Measures the cost of translating a 100-event stream of one format for every client. Prints the result as JSON, relative to the time it takes to
 * parse the events' JSON. It runs in a separate process, because JIT optimizations from other tests would distort the result.
 */

const [, , from = '', most = '0'] = process.argv
const ROUNDS = 10_000

const ratios: Record<string, number> = {}
for (const source of wireFormats.filter((format) => format === from))
  for (const to of wireFormats) ratios[`${source} ${to}`] = await getRatio(source, to)
console.log(JSON.stringify(ratios))

async function getRatio(from: WireFormat, to: WireFormat): Promise<number> {
  const [source, client] = await Promise.all([getTranslator(from), getTranslator(to)])
  const payloads = longStreams[from].map(([, payload]) => JSON.stringify(payload))
  const pieces = longStreams[from].map(([event], index) =>
    encodeUtf8(`${event ? `event: ${event}\n` : ''}data: ${payloads[index]}\n\n`),
  )
  const { read: readerContext, write } = contexts(source)
  let written = 0
  let parsed = 0
  function translate() {
    const stream = translateStream({ from: source, to: client, readerContext, writerContext: write() }, (event) => {
      written += event.length
    })
    for (const piece of pieces) stream.push(piece)
    stream.end()
  }
  function parse() {
    for (const payload of payloads) parsed += Object.keys(JSON.parse(payload)).length
  }
  const ratio = leastRatio(translate, parse)
  if (written === 0 || parsed === 0) throw new Error('nothing was measured')
  return ratio
}

/**
 * Compares each function's shortest time in alternating runs, because other load on the machine can only add time. Stops as soon as the result is
 * clear; only a constantly busy machine needs all rounds.
 */
function leastRatio(one: () => void, other: () => void): number {
  let first = Number.POSITIVE_INFINITY
  let second = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    first = Math.min(first, time(one))
    second = Math.min(second, time(other))
    if (round > 100 && round % 50 === 0 && first / second <= Number(most)) break
  }
  return first / second
}

function time(run: () => void): number {
  const start = performance.now()
  run()
  return performance.now() - start
}
