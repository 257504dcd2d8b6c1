import { isObject } from '../../../src/lib/json.ts'
import { createSseParser } from '../../../src/lib/sse.ts'
import { loadErrorReaders } from '../../../src/protocols/formats/errors/load-error-readers.ts'
import { loadResponseReader } from '../../../src/protocols/formats/format.ts'
import { operations } from '../../../src/protocols/formats/model-operations.ts'
import { openaiResponses } from '../../../src/protocols/formats/openai-responses/responses-format.ts'
import { createResponseStreamState } from '../../../src/protocols/formats/openai-responses/responses-stream-state.ts'
import { responsesTranslator } from '../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { assert, suite } from '../../support/suite.ts'
import { recordedExchanges, recordedStreams } from '../support/recordings.ts'
import { payloads, receivedBy } from './support/streams.ts'

const reader = await loadResponseReader(openaiResponses, operations.generate)

const test = suite('passed-through responses')

test.before(() => loadErrorReaders())

function watch(...events: object[]) {
  const watched = createResponseStreamState()
  for (const event of events) watched.observe({ event: undefined, data: JSON.stringify(event) })
  return watched
}

/** Events, and whether they start the response. */
const beginnings: Record<string, [event: object, started: boolean]> = {
  'response.created': [{ type: 'response.created', response: {} }, false],
  'an announced message': [{ type: 'response.output_item.added', item: { type: 'message' } }, false],
  'announced reasoning': [{ type: 'response.output_item.added', item: { type: 'reasoning' } }, false],
  'an announced part': [{ type: 'response.content_part.added', part: { text: '' } }, false],
  'a call': [{ type: 'response.output_item.added', item: { type: 'function_call', name: 'f' } }, true],
  'a text': [{ type: 'response.output_text.delta', delta: 'a' }, true],
  reasoning: [{ type: 'response.output_item.done', item: { type: 'reasoning' } }, true],
  'response.completed': [{ type: 'response.completed', response: {} }, true],
}

for (const [name, [event, started]] of Object.entries(beginnings))
  test(`${name} ${started ? 'starts' : 'does not start'} the response`, () =>
    assert.is(watch(event).hasStarted, started))

test('the final response event ends and closes a passthrough stream', () => {
  const usage = { input_tokens: 3, output_tokens: 4 }
  for (const type of ['response.completed', 'response.incomplete']) {
    const { hasEnded, isClosed, usage: counted, error } = watch({ type, response: { usage } })
    assert.ok(hasEnded && isClosed && !error)
    assert.is(counted?.outputTokens, 4)
  }
  assert.not(watch({ type: 'response.output_item.done', item: { type: 'message' } }).hasEnded)
})

test('the stream state detects every form of error', () => {
  const failed = { error: { code: 'rate_limit_exceeded', message: 'x' } }
  const limit = { message: 'x', status: 429, ...failed }
  const broken = { type: 'error', code: 'server_error', message: 'x' }
  assert.equal(watch({ type: 'response.failed', response: failed }).error, limit)
  assert.equal(watch({ type: 'error', ...failed }).error, limit)
  assert.equal(watch(broken).error, { message: 'x', status: 500, error: broken })
  assert.equal(watch(failed).error, limit)
  assert.is(reader.getError({ output: [], error: null, status: 'completed' }), undefined)
  assert.equal(reader.getError({ output: [], status: 'failed', ...failed }), limit)
  assert.equal(reader.getError(failed), limit)
})

test('a gateway error ends a stream for every type of client', async () => {
  const errors = await openaiResponses.loadErrors()
  const events = errors.createEvent({ status: 502, code: 'UPSTREAM_CUT', message: 'cut' }).split(/(?<=\n\n)/)
  const [error, failed] = payloads(events)
  assert.is(error?.type, 'error')
  assert.is(failed?.type, 'response.failed')
  const received = await receivedBy(events).catch((error: Error) => error)
  assert.ok(received instanceof Error && received.message.includes('cut'))
})

test('every recorded stream ends normally and reports usage', () => {
  for (const { name, sse, received } of recordedStreams('responses')) {
    const watched = createResponseStreamState()
    const parser = createSseParser(watched.observe)
    parser.push(sse)
    parser.end()
    assert.ok(watched.hasStarted && watched.hasEnded && watched.isClosed && !watched.error, name)
    assert.is(watched.usage?.inputTokens, received.usage?.input_tokens, name)
    assert.is(watched.usage?.outputTokens, received.usage?.output_tokens, name)
  }
})

test('the format distinguishes recorded responses from errors', () => {
  const kinds = new Set<string>()
  for (const { name, url, status, response } of recordedExchanges(['openai-responses'])) {
    if (!/\/responses$/.test(url) || response === undefined) continue
    if (status === 200) {
      assert.is(reader.getError(response), undefined, name)
      if (isObject(response) && response.usage) assert.ok(reader.getUsage(response), name)
      continue
    }
    const error = responsesTranslator.parseError({ status, body: response, header: () => undefined, nowMs: 0 })
    assert.ok(error.message.length > 10, name)
    kinds.add(error.kind)
  }
  assert.equal([...kinds].sort(), ['authentication', 'bad-request', 'context-overflow'])
})

test('loads the Responses translator', async () => {
  assert.is(await openaiResponses.loadTranslator(), responsesTranslator)
})
