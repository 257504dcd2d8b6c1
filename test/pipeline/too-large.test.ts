import { hasAdapters } from '../../src/protocols/kinds/endpoint.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { answerAt, getSample } from '../kinds/samples.ts'
import { assert, suite } from '../support/suite.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('files and requests that are too large for one target')

const chat = { messages: [{ role: 'user', content: 'Hi' }] }
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

const ofKinds = endpoints
  .filter(hasAdapters)
  .filter(
    ({ path, operation }) => !path.includes('{model}') && !/\/ai\//.test(path) && !/search|fetch/.test(operation.name),
  )
  .map((endpoint) => ({ at: endpoint.path, kind: endpoint.operation.kind, body: getSample(endpoint)?.body ?? {} }))
const all = [
  { at: '/v1/chat/completions', kind: 'llm', body: chat },
  { at: '/v1/messages', kind: 'llm', body: { ...chat, max_tokens: 9 } },
  { at: '/v1/responses', kind: 'llm', body: { input: 'Hi' } },
  ...ofKinds,
] as const

const rejections: Record<string, () => Response> = {
  'a 413': () => json({ error: { message: 'Request Entity Too Large', type: 'invalid_request_error' } }, 413),
  'a 413 with an HTML page': () =>
    new Response('<html>413</html>', { status: 413, headers: { 'content-type': 'text/html' } }),
  "OpenAI's size error": () =>
    json({ error: { message: 'Maximum content size limit (26214400) exceeded (26345678 bytes read)' } }, 413),
  "OpenAI's length error": () =>
    json(
      {
        error: {
          message: 'audio duration 1500.2 seconds is longer than 1400 seconds which is the maximum for this model',
        },
      },
      400,
    ),
  "Google's size error": () =>
    json(
      {
        error: {
          code: 400,
          message: 'Request payload size exceeds the limit: 20971520 bytes.',
          status: 'INVALID_ARGUMENT',
        },
      },
      400,
    ),
  "FastAPI's list of errors": () =>
    json({ detail: [{ loc: ['body', 'file'], msg: 'File size 30.00 MB exceeds maximum of 25 MB' }] }, 422),
  'only a code': () => json({ error: { message: 'Bad request', code: 'FileTooLarge' } }, 400),
  ...Object.fromEntries(
    [
      'Invalid file size: 30MB. Maximum allowed is 25MB',
      'The audio file is 40.1MB, the maximum is 25MB',
      'file size must be less than 25MB',
      'Your image is over the 20MB limit',
      'Body exceeded 10mb limit',
      'The attachment is too big',
    ].map((message) => [message, () => json({ error: { message, type: 'invalid_request_error' } }, 400)]),
  ),
  "Anthropic's size error": () =>
    json(
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message:
            'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6001234 bytes > 5242880 bytes',
        },
      },
      400,
    ),
  "ElevenLabs' size error": () => json({ detail: { status: 'file_too_large', message: 'No.' } }, 400),
}

for (const { at, kind, body } of all)
  for (const [label, reject] of Object.entries(rejections))
    test(`${at} falls back to the next target after ${label}`, async () => {
      const upstream = fakeUpstream(({ provider, url }) => {
        if (provider === 'one') return reject()
        return answerAt(url.pathname) ?? json(completion)
      })
      const combos = { pair: { models: ['one/of-any-kind', 'two/of-any-kind'], kind } }
      const { post, recorded } = await openWorld({ fetch: upstream, combos, connections: ['one', 'two'] })
      const response = await post(at, { model: 'pair', ...body })
      assert.is(response.status, 200, await response.clone().text())
      assert.equal(upstream.providers, ['one', 'two'])
      const alone = await post(at, { model: 'one/of-any-kind', ...body })
      assert.is(alone.status, reject().status, await alone.clone().text())
      assert.equal(recorded.errors, [])
      // The target remains available for requests that aren't too large.
      assert.equal((await post(at, { model: 'one/of-any-kind', ...body })).status, reject().status)
    })

for (const { at, kind, body } of all.filter(({ at }) => !at.startsWith('/v1/audio')))
  test(`${at} tries no other target after any other client error`, async () => {
    const upstream = fakeUpstream(() => json({ error: { message: '"temperature" must be at most 2.' } }, 400))
    const combos = { pair: { models: ['one/of-any-kind', 'two/of-any-kind'], kind } }
    const { post } = await openWorld({ fetch: upstream, combos, connections: ['one', 'two'] })
    await post(at, { model: 'pair', ...body })
    assert.equal(upstream.providers, ['one'])
  })
