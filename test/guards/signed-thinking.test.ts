import { pii, words } from '../../src/features/guards/guards.ts'
import { messageEvents } from '../pipeline/support/responses.ts'
import { getOutput } from '../pipeline/support/sdk/model-output.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld } from './world.ts'

const test = suite('masking and signed thinking')

const masks = pii({ name: 'm', action: 'mask', types: ['email'] })
const request = (content: unknown[], extra = {}) => ({
  ...{ model: 'one/m', max_tokens: 9, ...extra },
  messages: [
    { role: 'user', content: 'Write to a@b.com' },
    { role: 'assistant', content: [...content, { type: 'text', text: 'I wrote to c@d.com' }] },
    { role: 'user', content: 'Again' },
  ],
})

test('a signed thinking block in a request stays unchanged', async () => {
  const { send, upstream } = await openWorld([masks], { format: 'anthropic-messages' })
  const block = { type: 'thinking', thinking: 'The mail is for e@f.com', signature: 'c2ln' }
  await send('/v1/messages', request([block]))
  const sent = upstream.calls[0]?.body ?? ''
  assert.match(sent, JSON.stringify(block))
  assert.not.match(sent, 'a@b.com')
  assert.not.match(sent, 'c@d.com')
})

test('in a stream, a signed thinking block keeps the placeholder, and the text gets the value', async () => {
  const probe = await openWorld([masks], { format: 'anthropic-messages' })
  await probe.send('/v1/messages', request([]))
  const placeholder = /EMAIL-1-\w+/.exec(probe.upstream.calls[0]?.body ?? '')?.[0] ?? ''
  const [start = '', ...rest] = messageEvents(`Sent to ${placeholder}.`)
  const write = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, index: 9, ...fields })}\n\n`
  const thinking = [
    write('content_block_start', { content_block: { type: 'thinking', thinking: '', signature: '' } }),
    write('content_block_delta', { delta: { type: 'thinking_delta', thinking: `For ${placeholder}.` } }),
    write('content_block_delta', { delta: { type: 'signature_delta', signature: 'c2ln' } }),
    write('content_block_stop', {}),
  ]
  const { send } = await openWorld([masks], { format: 'anthropic-messages', events: [start, ...thinking, ...rest] })
  const text = await (await send('/v1/messages', request([], { stream: true }))).text()
  assert.match(text, `For ${placeholder}.`)
  assert.match(text, 'a@b.com')
})

for (const action of ['replace', 'remove'] as const) {
  const guard = words({ name: 'r', words: ['falcon'], action })

  test(`a request is rejected if a guard would ${action} words in its signed thinking`, async () => {
    const { send, upstream } = await openWorld([guard], { format: 'anthropic-messages' })
    const block = { type: 'thinking', thinking: 'The falcon is up', signature: 'c2ln' }
    const response = await send('/v1/messages', request([block]))
    assert.is(response.status, 400, await response.text())
    assert.is(upstream.calls.length, 0)
  })

  for (const stream of [false, true])
    test(`a response is cut off if a guard would ${action} words in its signed thinking (${stream ? 'streaming' : 'non-streaming'})`, async () => {
      const blocks = [
        { type: 'reasoning', text: 'The falcon is up.', signature: 'c2ln' },
        { type: 'text', text: 'Fine.' },
      ] as const
      const { whole, events } = getOutput('anthropic-messages', { blocks: [...blocks] })
      const { send } = await openWorld([guard], { format: 'anthropic-messages', response: whole, events })
      const text = await (await send('/v1/messages', request([], { stream }))).text()
      assert.match(text, '"stop_reason":"refusal"')
      assert.not.match(text, /falcon|WORD|is up|Fine/)
    })
}
