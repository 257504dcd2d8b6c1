import { chatTranslator } from '../../../src/formats/openai-chat/translator.ts'
import { translateStream } from '../../../src/formats/translate-stream.ts'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const test = suite('speed of a translation')

const head = {
  id: 'chatcmpl-CM9n9OhFOl4lSSFwarLEIMnPrNWSP',
  object: 'chat.completion.chunk',
  created: 1_759_396_891,
  model: 'gpt-5-nano-2025-08-07',
  service_tier: 'default',
  system_fingerprint: 'fp_44f3967ccd',
}
const chunk = (delta: object, finish_reason: string | null = null) =>
  JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
const words = Array.from({ length: 98 }, (_, index) => chunk({ content: ` word${index}` }))
const payloads = [chunk({ role: 'assistant', content: '', refusal: null }), ...words, chunk({}, 'stop')]
const pieces = [...payloads, '[DONE]'].map((payload) => encodeUtf8(`data: ${payload}\n\n`))

/** The least time that a number of runs have taken, in ms: what else the machine does only adds to it. */
function least(run: () => void): number {
  const times = Array.from({ length: 12 }, () => {
    const start = performance.now()
    for (let count = 0; count < 150; count++) run()
    return performance.now() - start
  })
  return Math.min(...times)
}

test('a stream of 100 events costs at most three times the parsing of their JSON', () => {
  const { read, write } = contexts(chatTranslator)
  let size = 0
  const translate = () => {
    const sides = { from: chatTranslator, to: chatTranslator, read, write: write() }
    const stream = translateStream(sides, (event) => {
      size += event.length
    })
    for (const piece of pieces) stream.push(piece)
    stream.end()
  }
  const parse = () => {
    for (const payload of payloads) size += Object.keys(JSON.parse(payload)).length
  }
  const ratio = least(translate) / least(parse)
  assert.ok(size > 0)
  assert.ok(ratio <= 3, `it costs ${ratio.toFixed(2)} times as much`)
})
