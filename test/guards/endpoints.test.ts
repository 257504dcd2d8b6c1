import { words } from '../../src/features/guards/guards.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Endpoint } from '../../src/protocols/formats/format.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { answerAt, getJson, getSample } from '../kinds/samples.ts'
import { wav } from '../kinds/transcription/sample.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { findLeaks } from './find-leaks.ts'
import { type ClientName, clients, openWorld, WORD, w } from './world.ts'

const test = suite('guards on every endpoint')

const builtIn = words({ name: 'w', words: [WORD] })

/** Creates a minimal request to an endpoint. */
function createRequest(endpoint: Endpoint): { path: string; body: JsonObject; headers: Record<string, string> } {
  const path = endpoint.path.replace('{model}', 'one/of-any-kind')
  const client = clients[endpoint.format as ClientName]
  const body = {
    ...(getSample(endpoint)?.body ?? {
      ...client.body('Hi'),
      ...(endpoint.operation.name === 'complete' && { prompt: 'Hi' }),
    }),
  }
  const isInPath = endpoint.path.includes('{model}') || endpoint.format === 'ai-sdk'
  const operation = /([a-z-]+)-model$/.exec(path)?.[1] ?? 'language'
  return {
    path,
    body: { ...body, ...(!isInPath && { model: 'one/of-any-kind' }) },
    headers: { [`ai-${operation}-model-id`]: 'one/of-any-kind', 'ai-model-id': 'one/of-any-kind' },
  }
}

const fillFields = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/"(?:Hi|a walk)"/g, `"${WORD}"`))

for (const endpoint of endpoints) {
  const { path, body, headers } = createRequest(endpoint)

  test(`POST ${endpoint.path} rejects a request with a blocked word anywhere`, async () => {
    for (const [location, some] of Object.entries({
      'an unknown field': { ...body, x_note: WORD },
      'a nested field': { ...body, x_note: [{ deep: [{ text: `Say ${WORD}.` }] }] },
      'a text': fillFields(body),
    })) {
      if (JSON.stringify(some) === JSON.stringify(body)) continue
      const { send, upstream } = await openWorld([w])
      const response = await send(path, some, headers)
      const text = await response.text()
      assert.is(response.status, 400, `${location}: ${text}`)
      assert.match(text, 'rejected the content', location)
      assert.is(response.headers.get('x-should-retry'), 'false')
      assert.is(upstream.calls.length, 0)
    }
  })

  test(`POST ${endpoint.path} doesn't deliver a response with a blocked word`, async () => {
    for (const guard of [w, builtIn]) {
      const fetch = fakeUpstream(({ url }) => {
        const response = getJson(url.pathname)
        const isJson = response && Object.keys(response).length > 0
        if (response && !isJson) return answerAt(url.pathname) ?? json({})
        return json(response ? { ...(fillFields(response) as JsonObject), x_note: WORD } : chatResponse(WORD))
      })
      const { send } = await openWorld([{ ...guard, on: ['answer'] }], { options: { fetch } })
      const response = await send(path, body, headers)
      const text = await response.text()
      assert.equal(findLeaks(text, WORD), [], text)
      assert.ok(fetch.calls.length > 0 || /tokens/i.test(endpoint.path), text)
    }
  })
}

const data = (json: object) => `data: ${JSON.stringify(json)}\n\n`

for (const guard of [{ ...w, maxMatch: WORD.length }, builtIn])
  test(`a streamed transcription ends with an error before a blocked word (${guard.name})`, async () => {
    const events = [
      data({ type: 'transcript.text.delta', delta: 'Hello there. ' }),
      data({ type: 'transcript.text.delta', delta: 'Say SES' }),
      data({ type: 'transcript.text.delta', delta: 'AME now. ' }),
      data({
        type: 'transcript.text.done',
        text: `Hello there. Say ${WORD} now. `,
        usage: { type: 'tokens', total_tokens: 2 },
      }),
    ]
    const fetch = fakeUpstream(() => sse(events))
    const { send } = await openWorld([guard], { options: { fetch } })
    const form = new FormData()
    form.set('model', 'one/m')
    form.set('stream', 'true')
    form.set('file', new Blob([new Uint8Array(wav)]), 'a.wav')
    const response = await send('/v1/audio/transcriptions', form)
    const text = await response.text()
    assert.is(response.status, 200, text)
    assert.equal(findLeaks(text, WORD), [])
    if (guard === builtIn) assert.match(text, 'transcript.text.delta')
    assert.match(text, 'content_filter')
    assert.not.match(text, /finish_reason|DONE|text\.done/)
    assert.is(fetch.open, 0)
  })
