import { answersOf } from '../../../src/formats/format.ts'
import { openaiResponses } from '../../../src/formats/openai-responses/format.ts'
import { responsesTranslator } from '../../../src/formats/openai-responses/translator.ts'
import { operations } from '../../../src/formats/operations.ts'
import { isObject } from '../../../src/lib/json.ts'
import { createSseParser } from '../../../src/lib/sse.ts'
import { assert, suite } from '../../support/suite.ts'
import { recordedExchanges, recordedStreams } from '../support/recordings.ts'
import { heardBy, payloads } from './support/streams.ts'

const test = suite('responses that are passed on as they are')

function watch(...events: object[]) {
  const watched = answersOf(openaiResponses, operations.generate).watchStream()
  for (const event of events) watched.observe({ event: undefined, data: JSON.stringify(event) })
  return watched
}

/** Events, and whether the answer has begun with them. */
const beginnings: Record<string, [event: object, started: boolean]> = {
  'the response': [{ type: 'response.created', response: {} }, false],
  'a message that is announced': [{ type: 'response.output_item.added', item: { type: 'message' } }, false],
  'a thought that is announced': [{ type: 'response.output_item.added', item: { type: 'reasoning' } }, false],
  'a part that is announced': [{ type: 'response.content_part.added', part: { text: '' } }, false],
  'a call': [{ type: 'response.output_item.added', item: { type: 'function_call', name: 'f' } }, true],
  'a text': [{ type: 'response.output_text.delta', delta: 'a' }, true],
  'a thought': [{ type: 'response.output_item.done', item: { type: 'reasoning' } }, true],
  'the end': [{ type: 'response.completed', response: {} }, true],
}

for (const [name, [event, started]] of Object.entries(beginnings))
  test(`${name} is ${started ? 'something' : 'nothing'} of the answer`, () => assert.is(watch(event).started, started))

test('a stream has ended with its whole response', () => {
  const usage = { input_tokens: 3, output_tokens: 4 }
  for (const type of ['response.completed', 'response.incomplete']) {
    const { ended, closed, usage: counted, error } = watch({ type, response: { usage } })
    assert.ok(ended && closed && !error)
    assert.is(counted?.outputTokens, 4)
  }
  assert.not(watch({ type: 'response.output_item.done', item: { type: 'message' } }).ended)
})

test('an error is read in each of its forms', () => {
  const failed = { error: { code: 'rate_limit_exceeded', message: 'x' } }
  const limit = { message: 'x', status: 429, ...failed }
  const broken = { type: 'error', code: 'server_error', message: 'x' }
  assert.equal(watch({ type: 'response.failed', response: failed }).error, limit)
  assert.equal(watch({ type: 'error', ...failed }).error, limit)
  assert.equal(watch(broken).error, { message: 'x', status: 500, error: broken })
  assert.equal(watch(failed).error, limit)
  assert.is(
    answersOf(openaiResponses, operations.generate).errorIn({ output: [], error: null, status: 'completed' }),
    undefined,
  )
  assert.equal(
    answersOf(openaiResponses, operations.generate).errorIn({ output: [], status: 'failed', ...failed }),
    limit,
  )
  assert.equal(answersOf(openaiResponses, operations.generate).errorIn(failed), limit)
})

test('an error of the gateway ends a stream for every kind of client', async () => {
  const { errors } = openaiResponses
  const events = errors.event({ status: 502, code: 'UPSTREAM_CUT', message: 'cut' }).split(/(?<=\n\n)/)
  const [error, failed] = payloads(events)
  assert.is(error?.type, 'error')
  assert.is(failed?.type, 'response.failed')
  const heard = await heardBy(events).catch((thrown: Error) => thrown)
  assert.ok(heard instanceof Error && heard.message.includes('cut'))
})

test('every recorded stream ends normally and has a usage', () => {
  for (const { name, sse, heard } of recordedStreams('responses')) {
    const watched = answersOf(openaiResponses, operations.generate).watchStream()
    const parser = createSseParser(watched.observe)
    parser.push(sse)
    parser.end()
    assert.ok(watched.started && watched.ended && watched.closed && !watched.error, name)
    assert.is(watched.usage?.inputTokens, heard.usage?.input_tokens, name)
    assert.is(watched.usage?.outputTokens, heard.usage?.output_tokens, name)
  }
})

test('recorded answers and errors are distinguished', () => {
  const kinds = new Set<string>()
  for (const { name, url, status, answer } of recordedExchanges(['openai-responses'])) {
    if (!/\/responses$/.test(url) || answer === undefined) continue
    if (status === 200) {
      assert.is(answersOf(openaiResponses, operations.generate).errorIn(answer), undefined, name)
      if (isObject(answer) && answer.usage)
        assert.ok(answersOf(openaiResponses, operations.generate).usageOf(answer), name)
      continue
    }
    const error = responsesTranslator.parseError({ status, body: answer, header: () => undefined, now: 0 })
    assert.ok(error.message.length > 10, name)
    kinds.add(error.kind)
  }
  assert.equal([...kinds].sort(), ['authentication', 'bad-request', 'context-overflow'])
})

test('the translator is loaded on request', async () => {
  assert.is(await openaiResponses.loadTranslator(), responsesTranslator)
})
