import { responsesTranslator } from '../../../src/formats/openai-responses/translator.ts'
import { translateStream } from '../../../src/formats/translate-stream.ts'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { eventsOf, written } from './support/events.ts'
import { ours } from './support/streams.ts'

const test = suite('speed of a translation of responses')

const words = Array.from({ length: 98 }, (_, index) => ` word${index}`).join('')
const delta = /^event: response.output_text.delta/

/** As OpenAI sends it: with long ids, and with padding, so that nobody can tell the words by their lengths. */
const events = written(eventsOf([{ type: 'text', text: words }], { cut: () => 7 }))
  .map((event) => event.replaceAll('msg_id2', 'msg_0ecff685e411ca7b0069e063569c7c819bbc74c80d853802e6'))
  .map((event) => (delta.test(event) ? event.replace('}\n\n', ',"obfuscation":"aKxVyUx6lzgDL5"}\n\n') : event))
const pieces = events.map(encodeUtf8)
const payloads = events.map((event) => event.slice(event.indexOf('\ndata: ') + '\ndata: '.length))

/** The least times that runs of each have taken, in turns and so short that some of them are not disturbed. */
function leastOf(first: () => void, second: () => void): [number, number] {
  const least: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 200; round++)
    [first, second].forEach((run, index) => {
      const start = performance.now()
      for (let count = 0; count < 5; count++) run()
      least[index] = Math.min(least[index] ?? 0, performance.now() - start)
    })
  return least
}

test('a stream of 100 events costs at most three times the parsing of their JSON', () => {
  const { read, write } = contexts(responsesTranslator, ours)
  assert.ok(events.length > 100)
  let size = 0
  const translate = () => {
    const sides = { from: responsesTranslator, to: responsesTranslator, read, write: write() }
    const stream = translateStream(sides, (event) => {
      size += event.length
    })
    for (const piece of pieces) stream.push(piece)
    stream.end()
  }
  const parse = () => {
    for (const payload of payloads) size += Object.keys(JSON.parse(payload)).length
  }
  let ratio = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 3 && ratio > 3; attempt++) {
    const [translating, parsing] = leastOf(translate, parse)
    ratio = Math.min(ratio, translating / parsing)
  }
  assert.ok(size > 0)
  assert.ok(ratio <= 3, `it costs ${ratio.toFixed(2)} times as much`)
})
