import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { clients } from '../support/clients.ts'
import { fullResponses, geminiChunk, output } from './responses.ts'
import { getData, getStream, send } from './support.ts'

const test = suite('cases: responses that the model made invalid')

const message = 'Malformed function call: print(default_api.f('
const createInvalid = (finishReason: string, extra: JsonObject = {}) => ({
  candidates: [{ finishReason, index: 0, ...extra }],
})

/** A combo of a Gemini provider with this response and a healthy provider. */
const chain = { model: 'chain', connections: ['gemini', 'chat'], combos: { chain: ['gemini/m', 'chat/m'] } }

const empty: Readonly<Record<string, JsonObject>> = {
  'a malformed call': createInvalid('MALFORMED_FUNCTION_CALL', { finishMessage: message }),
  'a malformed response': createInvalid('MALFORMED_RESPONSE', { content: { role: 'model' } }),
  'a call to an unknown tool': createInvalid('UNEXPECTED_TOOL_CALL', {
    content: { role: 'model', parts: [{ text: '' }] },
  }),
  'too many calls': createInvalid('TOO_MANY_TOOL_CALLS'),
  'a missing image': createInvalid('NO_IMAGE', { content: {} }),
  'a response without content or a known reason': createInvalid('OTHER', { content: { parts: [] } }),
}

for (const client of wireFormats) {
  for (const [label, chunk] of Object.entries(empty))
    test(`${label} triggers a fallback, streamed or not (${client} client)`, async () => {
      for (const stream of [true, false]) {
        const { response, upstream } = await send({
          ...{ client, stream, ...chain },
          respond({ provider }) {
            if (provider === 'gemini') return stream ? getStream('gemini', [chunk]) : json(chunk)
            return stream
              ? getStream('openai-chat', output['openai-chat']('spare'))
              : json(fullResponses['openai-chat'])
          },
        })
        assert.equal([response.status, upstream.providers], [200, ['gemini', 'chat']])
        if (stream) assert.is((await clients[client](response)).text, 'spare')
      }
    })

  test(`an invalid response from the only target causes an error (${client} client)`, async () => {
    for (const stream of [true, false]) {
      const chunk = empty['a malformed call'] ?? {}
      const respond = () => (stream ? getStream('gemini', [chunk]) : json(chunk))
      const { response, world } = await send({ client, model: 'gemini/m', stream, respond })
      assert.is(response.status, 502)
      assert.match(await response.text(), /Malformed function call/)
      assert.is(world.recorded.attempts[0]?.outcome, 'content')
    }
  })

  test(`a stream that breaks after its first content fails without a normal end (${client} client)`, async () => {
    const { response, upstream, world } = await send({
      ...{ client, stream: true, ...chain },
      respond: () => getStream('gemini', [geminiChunk([{ text: 'a' }]), createInvalid('MALFORMED_FUNCTION_CALL')]),
    })
    const events = await getData(response)
    const last = JSON.stringify(events.at(-1))
    assert.match(last, client === 'gemini' ? /MALFORMED_FUNCTION_CALL/ : /"error":\{/)
    assert.equal(upstream.providers, ['gemini'])
    assert.is(world.recorded.requests[0]?.status, 502)
  })
}

for (const reason of ['OTHER', 'NO_IMAGE']) {
  test(`content before the finish reason ${reason} counts as a response`, async () => {
    const respond = () => getStream('gemini', [geminiChunk([{ text: 'a' }]), createInvalid(reason)])
    for (const client of ['openai-chat', 'gemini'] as const) {
      const { response, world } = await send({ client, model: 'gemini/m', stream: true, respond })
      assert.is((await clients[client](response.clone())).text, 'a')
      await response.text()
      assert.is(world.recorded.requests[0]?.status, 200)
    }
  })
}
