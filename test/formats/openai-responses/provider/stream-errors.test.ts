import { assert, suite } from '../../../support/suite.ts'
import { createCompleted, created, read } from '../support/read-stream.ts'

const test = suite('Responses stream errors')

const at = { output_index: 0, content_index: 0, item_id: 'i' }

const done = (item: object, output_index = 0) => ({ type: 'response.output_item.done', output_index, item })
const delta = (text: string, fields = {}) => ({ type: 'response.output_text.delta', ...at, delta: text, ...fields })
const message = (...content: object[]) => ({ type: 'message', id: 'i', role: 'assistant', content })
const output = (text: string, fields = {}) => ({ type: 'output_text', text, annotations: [], ...fields })

const text = (value: string, fields = {}) => ({ type: 'text', text: value, ...fields })

test('a stream without its final event ends with an error', () => {
  assert.is(read(created, delta('a')).error?.code, 'UPSTREAM_CUT')
  assert.is(read(created, done(message(output('a')))).error?.code, 'UPSTREAM_CUT')
})

/** Error events, with the expected errors. */
const errors: Record<string, [event: object, kind: string, status: number]> = {
  'nested, as OpenAI sends it': [
    { type: 'error', error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'x' } },
    'rate-limit',
    429,
  ],
  'flat, as in OpenAI’s types': [{ type: 'error', code: 'server_error', message: 'x', param: null }, 'server', 500],
  'a failed response': [
    { type: 'response.failed', response: { status: 'failed', error: { code: 'server_is_overloaded', message: 'x' } } },
    'overloaded',
    503,
  ],
  'a full context window': [
    { type: 'response.failed', response: { error: { code: 'context_length_exceeded', message: 'x' } } },
    'context-overflow',
    400,
  ],
  'an account without credit': [{ type: 'error', error: { code: 'insufficient_quota', message: 'x' } }, 'billing', 429],
  'an invalid request': [
    { type: 'response.failed', response: { error: { code: 'invalid_prompt', message: 'x' } } },
    'bad-request',
    400,
  ],
  'bare, without a type': [{ error: { message: 'x', code: 503 } }, 'overloaded', 503],
}

for (const [name, [event, kind, status]] of Object.entries(errors))
  test(`a stream ends with an error: ${name}`, () => {
    const { error, content } = read(created, delta('a'), event, createCompleted())
    assert.is(error?.kind, kind)
    assert.is(error?.status, status)
    assert.is(error?.message, 'x')
    assert.equal(content, [text('a')])
  })
