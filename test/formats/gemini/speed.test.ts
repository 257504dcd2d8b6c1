import { geminiTranslator } from '../../../src/formats/gemini/translator.ts'
import { translateStream } from '../../../src/formats/translate-stream.ts'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const test = suite('speed of a translation of Gemini')

const usageMetadata = {
  ...{ promptTokenCount: 8, candidatesTokenCount: 16, totalTokenCount: 52, thoughtsTokenCount: 28 },
  ...{ promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }], serviceTier: 'standard' },
}
const tail = { usageMetadata, modelVersion: 'gemini-3-flash-preview', responseId: 'J3dHapyWENS3g8UPyrefuAE' }
const chunk = (text: string, finish = {}) =>
  JSON.stringify({ candidates: [{ content: { parts: [{ text }], role: 'model' }, ...finish, index: 0 }], ...tail })
const words = Array.from({ length: 99 }, (_, index) => chunk(` also the largest city in France, number ${index}`))
const payloads = [...words, chunk('', { finishReason: 'STOP' })]
const pieces = payloads.map((payload) => encodeUtf8(`data: ${payload}\r\n\r\n`))

function time(run: () => void): number {
  const start = performance.now()
  for (let count = 0; count < 2; count++) run()
  return performance.now() - start
}

/** The least times of two things that take turns: what else the machine does only adds to them. */
function least(one: () => void, other: () => void): [number, number] {
  const times = Array.from({ length: 500 }, () => [time(one), time(other)] as const)
  return [Math.min(...times.map(([first]) => first)), Math.min(...times.map(([, second]) => second))]
}

test('a stream of 100 events costs at most three times the parsing of their JSON', () => {
  const { read, write } = contexts(geminiTranslator)
  let size = 0
  const translate = () => {
    const sides = { from: geminiTranslator, to: geminiTranslator, read, write: write() }
    const stream = translateStream(sides, (event) => {
      size += event.length
    })
    for (const piece of pieces) stream.push(piece)
    stream.end()
  }
  const parse = () => {
    for (const payload of payloads) size += Object.keys(JSON.parse(payload)).length
  }
  const [translating, parsing] = least(translate, parse)
  const ratio = translating / parsing
  assert.ok(size > 0)
  assert.ok(ratio <= 3, `it costs ${ratio.toFixed(2)} times as much`)
})
