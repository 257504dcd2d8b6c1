import { assert, suite } from '../support/suite.ts'
import { both, open } from './support/both-formats.ts'

const test = suite('stream_options in a non-streaming request')

const message = '"messages" : [{"role":"user","content":"a \\"stream_options\\": b 1.0"}]'

/** The bodies that clients send, and the bodies that a provider of the same format receives. */
const table: Record<string, [sent: string, passed: string]> = {
  'before other fields': [
    `{"stream_options":{"include_usage":true}, "model":"one/m",${message}}`,
    `{"model":"m",${message}}`,
  ],
  'next to "stream": false': [
    `{"model":"one/m",${message},"stream":false, "stream_options": {"include_usage":true} }`,
    `{"model":"m",${message},"stream":false }`,
  ],
  'next to "stream": null': [
    `{"model":"one/m",${message},"stream":null,"stream_options":{}}`,
    `{"model":"m",${message},"stream":null}`,
  ],
}

for (const [name, [sent, passed]] of Object.entries(table)) {
  test(`stream_options ${name} aren't passed through, and everything else is unchanged`, async () => {
    const { world, upstream } = await open()
    const response = await world.post('/v1/chat/completions', sent)
    assert.equal([response.status, upstream.calls[0]?.body], [200, passed])
  })
}

test("stream_options in a non-streaming legacy completion request aren't passed through", async () => {
  const { world, upstream } = await open()
  await world.post('/v1/completions', '{"model":"one/m","prompt":"a","stream_options":{"include_usage":true}}')
  assert.is(upstream.calls[0]?.body, '{"model":"m","prompt":"a"}')
})

test('stream_options are passed through in a streaming request, even with unknown fields', async () => {
  const { world, upstream } = await open(both)
  const streamed = `{"model":"one/m",${message},"stream":true,"stream_options":{"include_usage":true}}`
  await world.post('/v1/chat/completions', streamed)
  const foreign = `{"model":"claude/c","max_tokens":9,${message},"stream_options":{"a":1}}`
  await world.post('/v1/messages', foreign)
  assert.equal(
    upstream.calls.map(({ body }) => body),
    [streamed.replace('one/m', 'm'), foreign.replace('claude/c', 'c')],
  )
})
