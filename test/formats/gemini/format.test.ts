import { loadErrorReaders } from '../../../src/protocols/formats/errors/load-error-readers.ts'
import { loadResponseReader } from '../../../src/protocols/formats/format.ts'
import { parseCountRequest } from '../../../src/protocols/formats/gemini/client/gemini-client-request.ts'
import { writeCount } from '../../../src/protocols/formats/gemini/client/gemini-client-response.ts'
import { geminiErrors } from '../../../src/protocols/formats/gemini/gemini-errors.ts'
import { gemini } from '../../../src/protocols/formats/gemini/gemini-format.ts'
import { createGeminiStreamState } from '../../../src/protocols/formats/gemini/gemini-stream-state.ts'
import { geminiTranslator } from '../../../src/protocols/formats/gemini/gemini-translator.ts'
import { writeCountRequest } from '../../../src/protocols/formats/gemini/provider/gemini-provider-request.ts'
import { parseCount } from '../../../src/protocols/formats/gemini/provider/gemini-provider-response.ts'
import { operations } from '../../../src/protocols/formats/model-operations.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

await loadErrorReaders()
const reader = await loadResponseReader(gemini, operations.generate)

const watching = suite('watching a passed-through Gemini stream')

function watch(...chunks: unknown[]) {
  const watched = createGeminiStreamState()
  for (const chunk of chunks)
    watched.observe({ event: undefined, data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })
  const { hasStarted, hasEnded, isClosed, error, usage } = watched
  return { started: hasStarted, ended: hasEnded, closed: isClosed, error, usage }
}

const parts = (...list: object[]) => ({ candidates: [{ content: { role: 'model', parts: list } }] })
const finish = { candidates: [{ finishReason: 'STOP' }] }

for (const [name, chunks, started, ended] of [
  ['text', [parts({ text: 'a' })], true, false],
  ['an empty text part', [parts({ text: '' })], false, false],
  ['only a signature', [parts({ text: '', thoughtSignature: 's' })], true, false],
  ['a call', [parts({ functionCall: { name: 'f' } })], true, false],
  ['only token counts', [{ usageMetadata: { trafficType: 'ON_DEMAND' } }], false, false],
  ['a finish reason', [finish], false, true],
  ['a finish reason after text', [parts({ text: 'a' }), finish], true, true],
  ['the finish reason of a truncated response', [{ candidates: [{ finishReason: 'MAX_TOKENS' }] }], true, true],
  ['a blocked prompt', [{ promptFeedback: { blockReason: 'SAFETY' } }], true, true],
  ['invalid JSON', ['oops'], false, false],
] as [string, unknown[], boolean, boolean][])
  watching(`detects the start and the end of a response with ${name}`, () => {
    const result = watch(...chunks)
    assert.equal([result.started, result.ended, result.closed], [started, ended, false])
  })

watching('the last reported usage wins', () => {
  const createTokens = (promptTokenCount: number) => ({
    usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
  })
  const { usage } = watch(createTokens(1), createTokens(2), { usageMetadata: { trafficType: 'ON_DEMAND' } })
  assert.is(usage?.inputTokens, 2)
})

watching('detects an error in a Gemini stream, bare or in an array', () => {
  const error = { code: 503, message: 'busy', status: 'UNAVAILABLE' }
  for (const chunk of [{ error }, [{ error }]])
    assert.equal(watch(chunk).error, { message: 'busy', status: 503, error })
  assert.is(watch({ error }).started, false)
})

const whole = suite('non-streaming passed-through Gemini responses')

const response = { ...finish, usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 } }

whole('usage is read from a complete response, even inside an array', () => {
  for (const body of [response, [parts({ text: 'a' }), response], [response, { usageMetadata: {} }]]) {
    const { inputTokens, outputTokens } = reader.getUsage(body) ?? {}
    assert.equal([inputTokens, outputTokens], [3, 4])
  }
  assert.is(reader.getUsage('x'), undefined)
})

whole('detects an error in a non-streaming response, bare or in an array', () => {
  const error = { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED' }
  assert.equal(reader.getError({ error }), {
    message: 'slow',
    status: 429,
    error,
  })
  assert.equal(reader.getError([{ error }]), {
    message: 'slow',
    status: 429,
    error,
  })
  assert.is(reader.getError(response), undefined)
  assert.equal(geminiErrors.read([{ error }]), { message: 'slow', code: 'RESOURCE_EXHAUSTED' })
})

whole('loads the Gemini translator', async () => {
  assert.is(await gemini.loadTranslator(), geminiTranslator)
})

const counting = suite('Gemini token count requests')

const contents = [{ role: 'user', parts: [{ text: 'q' }] }]
const system_instruction = { parts: [{ text: 's' }] }

counting('a token count request contains either contents or a complete request', () => {
  const send = (body: object) => {
    const { warnings, target } = contexts(geminiTranslator)
    return writeCountRequest(parseCountRequest({ ...body }, { warnings, route: { model: 'm', stream: false } }), target)
  }
  assert.equal(send({ contents }), { path: '/models/m:countTokens', headers: {}, body: { contents } })
  assert.equal(send({ generate_content_request: { model: 'models/x', contents, system_instruction } }), {
    path: '/models/m:countTokens',
    headers: {},
    body: { generateContentRequest: { model: 'models/m', contents, systemInstruction: system_instruction } },
  })
})

counting('parses and writes token count responses', () => {
  assert.is(parseCount({ totalTokens: 8, promptTokensDetails: [] }), 8)
  assert.is(parseCount({ totalTokens: 0 }), 0)
  assert.is(parseCount({}), undefined)
  assert.equal(writeCount(8), { totalTokens: 8 })
})
