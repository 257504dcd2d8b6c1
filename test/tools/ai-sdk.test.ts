import { existsSync } from 'node:fs'
import { HttpResponse, http } from 'msw'
import type { JsonObject } from '../../src/lib/json.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { validators } from '../formats/support/validators/validators.ts'
import { ANSWER, EXPECTED, getWeather, QUESTION, type Received, weather } from '../pipeline/support/sdk/conversation.ts'
import { isStream, MODEL, openBefore, openToolLoop, outputBy } from '../pipeline/support/sdk/gateway.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'

if (!existsSync(new URL('node_modules/ai-5', import.meta.url))) skip('tools: the AI SDK is not installed in test/tools')

/** The exports of `apps/ai-sdk.mjs`. */
interface Sdk {
  send(request: Request): Promise<string>
  converse(
    request: Request & { tool: typeof weather; execute(input: { city: string }): Promise<object> },
  ): Promise<Omit<Received, 'calls'>>
  fill(request: Request & { form: object }): Promise<unknown>
}

interface Request {
  client: WireFormat
  fetch: typeof globalThis.fetch
  model: string
  prompt: string
  stream: boolean
}

const form = {
  type: 'object',
  properties: { city: { type: 'string' }, celsius: { type: 'integer' } },
  required: ['city', 'celsius'],
  additionalProperties: false,
}
const FILLED = { city: 'Paris', celsius: 21 }

const app: { openSdk(generation: number): Promise<Sdk> } = await import(
  new URL('apps/ai-sdk.mjs', import.meta.url).href
)

for (const generation of [5, 6, 7]) {
  const sdk = await app.openSdk(generation)
  const test = suite(`AI SDK ${generation}`)

  for (const client of wireFormats)
    for (const stream of [false, true])
      test(`AI SDK ${generation} can read a response that cites a page without a title (${client} client${stream ? ', streamed' : ''})`, async () => {
        const { fetch } = await openBefore('gemini', upstream(http.post('*', () => citing(stream))))
        assert.is(await sdk.send({ client, model: MODEL, prompt: QUESTION, stream, fetch }), 'It rains.')
      })

  for (const client of wireFormats) {
    for (const format of wireFormats) {
      for (const stream of [false, true]) {
        const location = `${client} client, ${format} provider${stream ? ', streamed' : ''}`
        const request = { client, model: MODEL, prompt: QUESTION, stream }

        test(`AI SDK ${generation} reads the text of a response (${location})`, async () => {
          const { fetch } = await openAnswering(format, client)
          assert.is(await sdk.send({ ...request, fetch }), ANSWER.join(''))
        })

        test(`AI SDK ${generation} runs a tool loop (${location})`, async () => {
          const { fetch, requests } = await openToolLoop(format, client)
          const calls: Received['calls'] = []
          const execute = async ({ city }: { city: string }) => {
            calls.push({ name: weather.name, city })
            return getWeather(city)
          }
          const received = await sdk.converse({ ...request, fetch, tool: weather, execute })
          assert.equal({ ...received, calls }, EXPECTED)
          assert.is(requests.length, 2)
        })

        test(`AI SDK ${generation} generates structured output (${location})`, async () => {
          const { fetch, requests } = await openAnswering(format, client, JSON.stringify(FILLED))
          assert.equal(await sdk.fill({ ...request, fetch, form }), FILLED)
          assert.match(JSON.stringify(requests), /"celsius":\{"type":"integer"\}/)
        })
      }
    }
  }
}

/** Opens a gateway in front of a provider that responds with this text. Translated requests must follow the vendor's rules. */
async function openAnswering(format: WireFormat, client: WireFormat, text = ANSWER.join('')) {
  const requests: JsonObject[] = []
  const provider = upstream(
    http.post('*', async ({ request }) => {
      const body: JsonObject = Object(await request.json())
      requests.push(body)
      const problems = client === format ? [] : validators[format](body)
      if (problems.length > 0) return HttpResponse.json({ error: { message: problems.join('; ') } }, { status: 400 })
      const { whole, events } = outputBy(format).response
      if (!isStream(request.url, body)) return HttpResponse.json(JSON.parse(createOutput(text, JSON.stringify(whole))))
      return new HttpResponse(createOutput(text, events.join('')), { headers: { 'content-type': 'text/event-stream' } })
    }),
  )
  return { ...(await openBefore(format, provider)), requests }
}

/** Creates a Gemini response that cites a page only by its URL. */
function citing(stream: boolean): Response {
  const response = {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'It rains.' }] },
        finishReason: 'STOP',
        groundingMetadata: {
          groundingChunks: [{ web: { uri: 'https://weather.example/' } }],
          groundingSupports: [
            { segment: { startIndex: 0, endIndex: 9, text: 'It rains.' }, groundingChunkIndices: [0] },
          ],
        },
      },
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
  }
  if (!stream) return HttpResponse.json(response)
  return new HttpResponse(`data: ${JSON.stringify(response)}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}

/** Returns a provider's response with a different text, all of it in the first chunk. */
function createOutput(content: string, response: string): string {
  const escapeJson = (text: string) => JSON.stringify(text).slice(1, -1)
  const [first, second] = ANSWER
  if (content === first + second) return response
  return response.replaceAll(escapeJson(first), escapeJson(content)).replaceAll(escapeJson(second), '')
}
