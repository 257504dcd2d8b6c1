import { concatBytes, encodeUtf8 } from '../../../src/lib/bytes.ts'
import { type FormPart, serializeForm } from '../../../src/lib/multipart.ts'
import { type Call, fakeUpstream, getBody, json, never, sse } from '../../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../../pipeline/support/world.ts'
import { createRandom } from '../../support/random.ts'
import { assert, suite } from '../../support/suite.ts'
import { wav } from './sample.ts'
import { getForm, hearingCatalog, hearingVendors, SRT, TEXT, VTT } from './vendors.ts'

const test = suite('transcription')

const AT = '/v1/audio/transcriptions'
const respond = (call: Call) =>
  hearingVendors[call.provider]?.respond(call) ?? json({ error: { message: 'none' } }, 404)
const file = { name: 'file', fileName: 'said.wav', type: 'audio/wav', bytes: wav }

async function open(createResponse: (call: Call) => Response | Promise<Response> = respond, extra: WorldOptions = {}) {
  const upstream = fakeUpstream(createResponse)
  const connections = Object.keys(hearingVendors)
  const world = await openWorld({ fetch: upstream, catalog: hearingCatalog, connections, ...extra })
  const send = (fields: Record<string, string>, { at = AT, headers = {}, signal }: SendOptions = {}) => {
    const { bytes, contentType } = serializeForm([...getParts(fields), file])
    return sendBytes(bytes, { at, signal, headers: { 'content-type': contentType, ...headers } })
  }
  const sendBytes = (body: BodyInit | Uint8Array, { at = AT, headers = {}, signal }: SendOptions = {}) =>
    world.gateway.fetch(
      new Request(`http://gateway${at}`, {
        method: 'POST',
        headers,
        body: body as BodyInit,
        ...(signal && { signal }),
        ...(body instanceof ReadableStream && { duplex: 'half' }),
      } as RequestInit),
    )
  return { ...world, upstream, send, sendBytes }
}

interface SendOptions {
  at?: string
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

const getParts = (fields: Record<string, string>): FormPart[] =>
  Object.entries(fields).map(([name, value]) => ({ name, value }))

type Reply = Record<string, never> & { text: string; usage: { type: string }; segments: object[]; words: object[] }

const checks: Record<string, (text: string) => void> = {
  json(text) {
    const response = JSON.parse(text) as Reply
    assert.is(response.text, TEXT)
    assert.ok(['tokens', 'duration'].includes(response.usage.type))
  },
  text: (text) => assert.is(text, `${TEXT}\n`),
  srt: (text) => assert.is(text, SRT),
  vtt: (text) => assert.is(text, VTT),
  verbose_json(text) {
    const response = JSON.parse(text) as Reply
    assert.is(response.text, TEXT)
    assert.is(response.language, 'english')
    assert.is(response.duration, 0.2)
    assert.is(response.segments.length, 2)
  },
  diarized_json(text) {
    const response = JSON.parse(text) as { segments: { speaker: string; text: string }[] }
    assert.equal(
      response.segments.map((segment) => segment.text),
      ['Hello there.', 'And bye.'],
    )
    assert.is(new Set(response.segments.map((segment) => segment.speaker)).size, 2)
  },
}

const withoutSpeakers = new Set(['groq', 'openrouter'])

for (const provider of Object.keys(hearingVendors))
  for (const [format, check] of Object.entries(checks)) {
    if (format === 'diarized_json' && withoutSpeakers.has(provider)) continue
    test(`${provider} returns ${format}`, async () => {
      const { send, recorded } = await open()
      const response = await send({ response_format: format, model: `${provider}/m` })
      const text = await response.text()
      assert.is(response.status, 200, text)
      check(text)
      assert.is(
        response.headers.get('content-type'),
        format.includes('json') ? 'application/json' : 'text/plain; charset=utf-8',
      )
      assert.equal(recorded.errors, [])
      const [usage] = recorded.usages
      assert.ok((usage?.units?.second ?? 0) === 0.2 || (usage?.inputTokens ?? 0) > 0, JSON.stringify(usage))
    })
  }

for (const provider of Object.keys(hearingVendors))
  test(`${provider} streams the transcript`, async () => {
    const { send, recorded } = await open()
    const response = await send({ model: `${provider}/m`, stream: 'true' })
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    const events = (await response.text())
      .split('\n\n')
      .filter(Boolean)
      .map((event) => JSON.parse(event.replace('data: ', '')) as { type: string; delta?: string; text?: string })
    assert.is(events.map(({ delta = '' }) => delta).join(''), TEXT)
    assert.equal([events.at(-1)?.type, events.at(-1)?.text], ['transcript.text.done', TEXT])
    assert.equal(recorded.errors, [])
  })

test('transcribed words are returned with their timestamps', async () => {
  for (const provider of ['deepgram', 'elevenlabs', 'mistral', 'groq', 'openrouter']) {
    const { send } = await open()
    const fields = { model: `${provider}/m`, response_format: 'verbose_json', 'timestamp_granularities[]': 'word' }
    const response = (await (await send(fields)).json()) as Reply
    assert.equal(response.words[3], { word: 'bye.', start: 0.15, end: 0.2 }, provider)
  }
})

test('unsupported transcription fields are reported, and rejected in strict mode', async () => {
  const { send } = await open()
  const fields = { model: 'deepgram/m', temperature: '0.5', prompt: 'A long story. And its end.', include: 'logprobs' }
  const response = await send(fields)
  assert.is(response.headers.get('x-signalbox-warning'), 'dropped:temperature, dropped:include, dropped:prompt')
  assert.is((await send(fields, { headers: { 'x-signalbox-strict': 'true' } })).status, 400)
})

test('a comma-separated prompt becomes Deepgram key terms', async () => {
  const { send, upstream } = await open()
  await send({ model: 'deepgram/m', prompt: 'Signalbox, srvx', 'keywords[]': 'Hono', language: 'de' })
  assert.equal(upstream.calls[0]?.url.searchParams.getAll('keyterm'), ['Hono', 'Signalbox', 'srvx'])
  assert.is(upstream.calls[0]?.url.searchParams.get('language'), 'de')
})

test('an audio upload is resent to each target with a different boundary', async () => {
  const boundaries: (string | null)[] = []
  const models = ['openai/m', 'groq/m', 'elevenlabs/m']
  const { send, recorded } = await open(
    (call) => {
      boundaries.push(call.headers.get('content-type'))
      assert.ok(getForm(call))
      return call.provider === 'elevenlabs' ? respond(call) : json({ error: { message: 'no' } }, 500)
    },
    { combos: { heard: { models, kind: 'stt' } } },
  )
  const response = await send({ model: 'heard' })
  assert.is(((await response.json()) as Reply).text, TEXT)
  assert.equal([boundaries.length, new Set(boundaries).size, recorded.errors.length], [3, 3, 0])
})

test('fields of a passed-through form keep their order and precede the file', async () => {
  const { sendBytes, upstream } = await open()
  const { bytes, contentType } = { bytes: handMade(), contentType: 'multipart/form-data; boundary=x' }
  const response = await sendBytes(bytes, { headers: { 'content-type': contentType } })
  assert.is(response.status, 200, await response.text())
  const [call] = upstream.calls
  assert.equal(call && getForm(call), { model: ['m'], 'include[]': ['logprobs', 'other'], language: ['en'] })
})

/** Creates a form that starts with the file, as some clients send it. */
const handMade = () =>
  concatBytes([
    encodeUtf8(
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n',
    ),
    wav,
    ...[
      ['include[]', 'logprobs'],
      ['include[]', 'other'],
      ['language', 'en'],
      ['model', 'openai/m'],
    ].map(([name, value]) => encodeUtf8(`\r\n--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}`)),
    encodeUtf8('\r\n--x--\r\n'),
  ])

test('an audio upload arrives unchanged, however it is split into chunks', async () => {
  const { sendBytes, upstream } = await open()
  const random = createRandom(35)
  const full = handMade()
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  for (let times = 0; times < (process.env.CI ? 1_000 : 50); times++) {
    const chunks: Uint8Array[] = []
    for (let index = 0; index < full.length; ) {
      const size = 1 + random.below(random.below(3) === 0 ? 9 : full.length)
      chunks.push(full.slice(index, index + size))
      index += size
    }
    const response = await sendBytes(getBody(chunks), { headers })
    assert.is(response.status, 200, `${random.seed}: ${await response.text()}`)
    const call = upstream.calls.at(-1)
    assert.equal(call && getForm(call)?.['include[]'], ['logprobs', 'other'])
  }
})

const broken: Record<string, [body: string, type?: string]> = {
  'a JSON body declared as a form': ['{"model":"openai/m"}'],
  'no file': ['--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nopenai/m\r\n--x--\r\n'],
  'no model': ['--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\nx\r\n--x--\r\n'],
  'a string in place of the file': [`${partText('model', 'openai/m') + partText('file', 'x')}--x--\r\n`],
  'two models': [`${partText('model', 'openai/m') + partText('model', 'openai/n')}--x--\r\n`],
  'an empty model': [`${partText('model', ' ')}--x--\r\n`],
  'an empty file': [`${partText('model', 'openai/m') + partText('file"; filename="a.wav', '')}--x--\r\n`],
  'two files': [`${partText('model', 'openai/m') + partText('file"; filename="a.wav', 'x').repeat(2)}--x--\r\n`],
  'an unknown format': [withFile('response_format', 'xml')],
  'two formats': [withFile('response_format', 'json').replace('--x--', `${partText('response_format', 'srt')}--x--`)],
  'a temperature that is not a number': [withFile('temperature', 'hot')],
  'a temperature that is too high': [withFile('temperature', '2')],
  'half a form': [withFile('language', 'en').slice(0, -20)],
  nothing: [''],
  'a form without a file': ['model=openai%2Fm', 'application/x-www-form-urlencoded'],
  'another boundary': [withFile('language', 'en'), 'multipart/form-data; boundary=y'],
  'no boundary': [withFile('language', 'en'), 'multipart/form-data'],
}

function partText(name: string, value: string): string {
  return `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
}
function withFile(name: string, value: string): string {
  return `${partText('model', 'deepgram/m')}${partText(name, value)}${partText('file"; filename="a.wav', 'x')}--x--\r\n`
}

test('malformed audio uploads are rejected with the reason and reach no provider', async () => {
  const { sendBytes, upstream, recorded } = await open()
  for (const [label, [body, type = 'multipart/form-data; boundary=x']] of Object.entries(broken)) {
    const response = await sendBytes(body, { headers: { 'content-type': type } })
    const { error } = (await response.json()) as { error: { message: string } }
    assert.is(response.status, 400, `${label}: ${error.message}`)
  }
  assert.equal([upstream.calls.length, recorded.errors.length], [0, 0])
})

test('an audio upload over its limit gets a 413 that names the option', async () => {
  const { send, upstream } = await open(respond, { limits: { maxAudioBytes: 5_000 } })
  const response = await send({ model: 'openai/m' })
  assert.is(response.status, 413)
  assert.match(await response.text(), /limits\.maxAudioBytes/)
  assert.is(upstream.calls.length, 0)
})

test('the limit for audio in JSON applies to its decoded bytes, as in a form', async () => {
  const { post, upstream } = await open(() => json({ text: TEXT }), { limits: { maxAudioBytes: 5_000 } })
  for (const [size, status] of [
    [4_999, 200],
    [5_000, 200],
    [5_003, 413],
    [2_000_000, 413],
  ] as const) {
    const data = Buffer.alloc(size, 1).toString('base64')
    const response = await post(AT, { model: 'openai/m', input_audio: { data, format: 'mp3' } })
    const text = await response.text()
    assert.is(response.status, status, `${size} ${text}`)
    if (status === 413) assert.match(text, /limits\.maxAudioBytes/)
  }
  assert.is(upstream.calls.length, 2)
})

test('a page on another site needs a preflight request to send a form', async () => {
  const { send } = await open()
  const origin = 'https://elsewhere.test'
  assert.is((await send({ model: 'openai/m' }, { headers: { origin } })).status, 415)
  assert.is((await send({ model: 'openai/m' }, { headers: { origin, authorization: 'Bearer x' } })).status, 200)
})

test('base64 audio in JSON is accepted', async () => {
  const { post } = await open()
  for (const provider of Object.keys(hearingVendors)) {
    const data = Buffer.from(wav).toString('base64')
    const response = await post(AT, { model: `${provider}/m`, input_audio: { data, format: 'wav' } })
    assert.is(((await response.json()) as Reply).text, TEXT, provider)
  }
})

test('translations go to vendors that support them, and to models that accept a prompt', async () => {
  const at = '/v1/audio/translations'
  for (const provider of ['openai', 'groq', 'google']) {
    const { send, upstream } = await open()
    const response = await send({ model: `${provider}/m` }, { at })
    assert.is(((await response.json()) as Reply).text, TEXT, provider)
    const [call] = upstream.calls
    assert.ok(
      provider === 'google' ? call?.body.includes('into English') : call?.url.pathname.endsWith('/translations'),
    )
  }
  const { send } = await open()
  assert.is((await send({ model: 'deepgram/m' }, { at })).status, 400)
})

test('a silent recording returns an empty string', async () => {
  const { send } = await open(() => json({ text: '' }))
  assert.equal((await (await send({ model: 'openai/m' })).json()) as Reply, { text: '' })
})

test('an abort cancels the vendor call, and an abort during the upload prevents the call', async () => {
  const { send, sendBytes, upstream } = await open(never)
  const controller = new AbortController()
  const replying = send({ model: 'openai/m' }, { signal: controller.signal })
  while (upstream.calls.length === 0) await new Promise((resolve) => setTimeout(resolve))
  controller.abort()
  assert.equal([(await replying).status, upstream.open], [499, 0])

  const abortController = new AbortController()
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  const uploading = sendBytes(getBody([handMade().subarray(0, 500)], 'hang'), {
    headers,
    signal: abortController.signal,
  })
  await new Promise((resolve) => setTimeout(resolve, 5))
  abortController.abort()
  assert.equal([(await uploading).status, upstream.calls.length], [499, 1])
})

test('a truncated transcript stream never ends normally', async () => {
  for (const provider of ['openai', 'mistral']) {
    const full = encodeUtf8(await getStream(provider))
    let reply = full
    const { send, clock, recorded } = await open(() => sse([new TextDecoder().decode(reply)]))
    for (let cut = 1; cut < full.length - 2; cut += process.env.CI ? 1 : 9) {
      reply = full.subarray(0, cut)
      await clock.advance(600_000)
      const response = await send({ model: `${provider}/m`, stream: 'true' })
      const text = await response.text()
      assert.ok(response.status !== 200 || text.includes('"error"'), `${provider} cut at ${cut}: ${text}`)
    }
    assert.equal(recorded.errors, [])
  }
})

async function getStream(provider: string): Promise<string> {
  let text = ''
  const { send } = await open(async (call) => {
    const response = respond(call)
    text = await response.clone().text()
    return response
  })
  await (await send({ model: `${provider}/m`, stream: 'true' })).text()
  return text
}

test('chat models with audio input get a transcription prompt, and other chat models are rejected', async () => {
  const catalog = {
    ...hearingCatalog,
    openai: {
      ...hearingCatalog.openai,
      models: [{ id: 'gpt-audio-2' }, { id: 'gpt-5' }, { id: 'm', type: 'stt' as const }],
    },
  }
  const received = json({
    choices: [{ message: { role: 'assistant', content: TEXT } }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  })
  const { send, upstream } = await open(() => received.clone(), { catalog })
  assert.is(((await (await send({ model: 'openai/gpt-audio-2' })).json()) as Reply).text, TEXT)
  const [content] = JSON.parse(upstream.calls[0]?.body ?? '').messages[0].content
  assert.equal([content.type, content.input_audio.format], ['input_audio', 'wav'])
  const rejected = await send({ model: 'openai/gpt-5' })
  assert.is(rejected.status, 400)
})

for (const provider of Object.keys(hearingVendors))
  for (const stream of ['false', 'true'])
    test(`transcription by ${provider} is charged per second${stream ? ' when streamed' : ''}, whether or not tokens are reported`, async () => {
      const connections = [{ provider, prices: { m: { second: 0.5 } } }]
      const { send, recorded } = await open(respond, { connections })
      const response = await send({ model: `${provider}/m`, stream })
      assert.is(response.status, 200, await response.text())
      const [{ units, costUsd } = assert.unreachable() as never] = recorded.usages
      assert.equal([units, costUsd], [{ second: 0.2 }, provider === 'openrouter' ? 0.001 : 0.1])
    })
