import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { fullResponses, output } from '../formats/cases/responses.ts'
import { getEvents, providerOf, send } from '../formats/cases/support.ts'
import { assert, suite } from '../support/suite.ts'
import { getBody, json } from './support/upstream.ts'

const test = suite('request IDs')

/** The header in which each client's SDK looks for the ID. */
const readIn: Readonly<Record<WireFormat, string>> = {
  'openai-chat': 'x-request-id',
  'openai-responses': 'x-request-id',
  'anthropic-messages': 'request-id',
  gemini: 'x-request-id',
}

const sentIn = ['x-request-id', 'request-id']
const clouds = ['x-amzn-requestid', 'apim-request-id', 'x-goog-request-id']

for (const client of wireFormats)
  for (const from of wireFormats)
    test(`the provider's request ID reaches the client (${from} provider, ${client} client)`, async () => {
      for (const name of sentIn)
        for (const [kind, respond] of Object.entries({
          whole: () => json(fullResponses[from], 200, { [name]: 'req_1' }),
          stream: () =>
            new Response(getBody(getEvents(from, output[from]('a'))), {
              headers: { 'content-type': 'text/event-stream', [name]: 'req_1' },
            }),
          refusal: () => json({ error: { message: 'no', type: 'invalid_request_error' } }, 400, { [name]: 'req_1' }),
          'bad key': () => json({ error: { message: 'no' } }, 401, { [name]: 'req_1' }),
          'no words': () => new Response('', { status: 500, headers: { [name]: 'req_1' } }),
        })) {
          const model = `${providerOf[from]}/m`
          const { response } = await send({ client, model, stream: kind === 'stream', respond })
          assert.is(response.headers.get(readIn[client]), 'req_1', `${kind} ${name}`)
          await response.text()
        }
    })

test("the request ID header of the client's own format takes precedence", async () => {
  for (const client of wireFormats)
    for (const from of wireFormats) {
      const model = `${providerOf[from]}/m`
      const two = { 'request-id': 'a', 'x-request-id': 'b' }
      const { response } = await send({ client, model, respond: () => json(fullResponses[from], 200, two) })
      assert.is(response.headers.get(readIn[client]), client === 'anthropic-messages' ? 'a' : 'b')
      const none = await send({ client, model, respond: () => json(fullResponses[from]) })
      assert.is(none.response.headers.get(readIn[client]), null)
    }
})

test("without a provider request ID, the client gets the cloud's request ID", async () => {
  for (const name of clouds) {
    const respond = () => json(fullResponses.gemini, 200, { [name]: 'req_1' })
    const { response } = await send({ client: 'anthropic-messages', model: 'gemini/m', respond })
    assert.is(response.headers.get('request-id'), 'req_1', name)
  }
})
