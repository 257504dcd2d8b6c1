import { encodeUtf8 } from '../../src/lib/bytes.ts'
import { type FormPart, isFile, parseForm } from '../../src/lib/multipart.ts'
import { type Call, fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { getBytes, png, webp } from './image/images.ts'
import { openImages } from './image/vendors.ts'
import { wav } from './transcription/sample.ts'
import { hearingCatalog, hearingVendors } from './transcription/vendors.ts'

const test = suite('upload names and types')

/** Returns a recording's name and type as the vendor reads them. */
function getRecording({ provider, init, headers, body }: Call): { name?: string; type?: string } {
  const contentType = headers.get('content-type') ?? ''
  if (provider === 'deepgram') return { type: contentType }
  if (contentType.startsWith('multipart')) {
    const file = parseForm(init.body as Uint8Array, contentType).find(isFile)
    return { ...(file?.fileName && { name: file.fileName }), ...(file && { type: file.type }) }
  }
  const [, mimeType, format] = /"mimeType":"([^"]*)"|"format":"(\w+)"/.exec(body) ?? []
  return { ...(mimeType && { type: mimeType }), ...(format && { name: `a.${format}` }) }
}

const words = encodeUtf8('no file of sound that is known by its bytes')

/** A client's file, with the extension and type that indicate its format. */
const recordings: ReadonlyArray<{ file: File; ending: RegExp; type: RegExp }> = [
  { file: new File([words], 'recording', { type: 'audio/webm' }), ending: /\.webm$/, type: /^audio\/webm$/ },
  { file: new File([words], 'voice', { type: 'audio/mp4' }), ending: /\.m(?:p4|4a)$/, type: /^audio\/mp4$/ },
  {
    file: new File([words], 'blob', { type: 'audio/webm;codecs=opus' }),
    ending: /^a\w*\.webm$/,
    type: /^audio\/webm$/,
  },
  { file: new File([words], 'Notes v1.2', { type: 'audio/ogg; codecs=opus' }), ending: /\.ogg$/, type: /^audio\/ogg$/ },
  { file: new File([words], 'said.wav', { type: 'audio/webm' }), ending: /\.webm$/, type: /^audio\/webm$/ },
  { file: new File([words], 'said.ogg', { type: '' }), ending: /\.ogg$/, type: /^audio\/ogg$/ },
  { file: new File([words], 'said.M4A', { type: 'audio/x-m4a' }), ending: /\.(?:M4A|m4a)$/, type: /^audio\/x-m4a$/ },
  {
    file: new File([words], 'said.flac', { type: 'application/octet-stream' }),
    ending: /\.flac$/,
    type: /^audio\/flac$/,
  },
  { file: new File([wav.slice()], 'said.mp3', { type: 'audio/mpeg' }), ending: /\.wav$/, type: /^audio\/wav$/ },
  {
    file: new File([wav.slice()], 'blob', { type: 'application/octet-stream' }),
    ending: /\.wav$/,
    type: /^audio\/wav$/,
  },
  { file: new File([words], 'blob', { type: '' }), ending: /\.mp3$/, type: /^audio\/mpeg$/ },
]

for (const provider of Object.keys(hearingVendors))
  for (const [index, { file, ending, type }] of recordings.entries())
    test(`${provider} gets the audio format of recording ${index} ("${file.name}", "${file.type}")`, async () => {
      const upstream = fakeUpstream(() => json({ text: 'Hi' }))
      const { gateway } = await openWorld({
        fetch: upstream,
        catalog: hearingCatalog,
        connections: Object.keys(hearingVendors),
      })
      const form = new FormData()
      form.append('file', file)
      form.append('model', `${provider}/m`)
      await gateway.fetch(new Request('http://gateway/v1/audio/transcriptions', { method: 'POST', body: form }))
      const [call] = upstream.calls
      if (!call) return assert.ok(provider === 'chat' && !/wav|mpeg/.test(type.source)) // this vendor only accepts MP3 and WAV
      const sent = getRecording(call)
      assert.ok(sent.name ?? sent.type, 'neither a name nor a type')
      if (sent.name !== undefined) assert.match(sent.name, ending)
      if (sent.type !== undefined) assert.match(sent.type, type)
    })

const LISTS = ['timestamp_granularities', 'include', 'known_speaker_names', 'known_speaker_references']

for (const brackets of ['', '[]', '[0]'])
  test(`OpenAI gets list fields with brackets if they were sent as "name${brackets}"`, async () => {
    const upstream = fakeUpstream(() => json({ text: 'Hi' }))
    const { gateway } = await openWorld({ fetch: upstream, catalog: hearingCatalog, connections: ['openai', 'groq'] })
    for (const provider of ['openai', 'groq']) {
      const form = new FormData()
      for (const name of LISTS) form.append(`${name}${brackets}`, 'word')
      form.append(`timestamp_granularities${brackets.replace('0', '1')}`, 'segment')
      form.append('response_format', 'verbose_json')
      form.append('file', new File([wav.slice()], 'said.wav', { type: 'audio/wav' }))
      form.append('model', `${provider}/m`)
      await gateway.fetch(new Request('http://gateway/v1/audio/transcriptions', { method: 'POST', body: form }))
      const parts = getParts(upstream.calls.at(-1))
      for (const name of LISTS)
        assert.ok(
          parts.some((part) => part.name === `${name}[]`),
          name,
        )
      assert.ok(!parts.some(({ name }) => LISTS.includes(name) || /\d/.test(name)))
      assert.is(parts.filter(({ name }) => name === 'timestamp_granularities[]').length, 2)
    }
  })

const getParts = (call: Call | undefined): readonly FormPart[] =>
  call ? parseForm(call.init.body as Uint8Array, call.headers.get('content-type') ?? '') : []

const edits: Record<string, { names: string[]; sent: string[] }> = {
  'two images': { names: ['image', 'image'], sent: ['image[]', 'image[]'] },
  'two images with brackets': { names: ['image[]', 'image[]'], sent: ['image[]', 'image[]'] },
  'two images with numbers': { names: ['image[0]', 'image[1]'], sent: ['image[]', 'image[]'] },
  'two images, one with brackets': { names: ['image', 'image[]'], sent: ['image[]', 'image[]'] },
  'one image': { names: ['image'], sent: ['image'] },
  'one image in a list': { names: ['image[]'], sent: ['image[]'] },
  'images under another name': { names: ['images', 'images'], sent: ['image[]', 'image[]'] },
}

for (const [label, { names, sent }] of Object.entries(edits))
  test(`OpenAI gets ${label} under OpenAI's field names, with a type`, async () => {
    const { gateway, upstream } = await openImages()
    const form = new FormData()
    for (const name of names)
      form.append(
        name,
        new File([getBytes(names.length > 1 ? webp : png)], 'blob', { type: 'application/octet-stream' }),
      )
    form.append('mask', new File([getBytes(png)], 'mask.png', { type: 'image/png' }))
    form.append('model', 'openai/gpt-image-1')
    form.append('prompt', 'a walk')
    await gateway.fetch(new Request('http://gateway/v1/images/edits', { method: 'POST', body: form }))
    const files = getParts(upstream.calls[0]).filter(isFile)
    assert.equal(
      files.map(({ name }) => name),
      [...sent, 'mask'],
    )
    const [type, ending] = names.length > 1 ? ['image/webp', '.webp'] : ['image/png', '.png']
    for (const file of files.slice(0, -1)) {
      assert.is(file.type, type)
      assert.ok(file.fileName?.endsWith(ending) && file.fileName !== 'blob', file.fileName)
    }
    assert.is(files.at(-1)?.fileName, 'mask.png')
  })

test('OpenAI gets an image in a form field as a file', async () => {
  const { gateway, upstream } = await openImages()
  const form = new FormData()
  form.append('image', new File([getBytes(png)], 'a.png', { type: 'image/png' }))
  form.append('image', `data:image/png;base64,${png}`)
  form.append('model', 'openai/gpt-image-1')
  form.append('prompt', 'a walk')
  await gateway.fetch(new Request('http://gateway/v1/images/edits', { method: 'POST', body: form }))
  const files = getParts(upstream.calls[0]).filter(isFile)
  assert.equal(
    files.map(({ name }) => name),
    ['image[]', 'image[]'],
  )
})

test('charges the seconds that Mistral reports, streamed or not', async () => {
  for (const stream of [false, true]) {
    const usage = { prompt_audio_seconds: 93, prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
    const full = { model: 'm', text: 'Hi', language: 'en', segments: [], usage }
    const upstream = fakeUpstream(() =>
      stream
        ? new Response(`data: ${JSON.stringify({ type: 'transcription.done', ...full })}\n\n`, {
            headers: { 'content-type': 'text/event-stream' },
          })
        : json(full),
    )
    const connections = [{ provider: 'mistral', prices: { m: { second: 0.001 } } }]
    const { post, recorded } = await openWorld({ fetch: upstream, catalog: hearingCatalog, connections })
    const body = { model: 'mistral/m', input_audio: { data: 'aGVsbG8gaGVsbG8=', format: 'mp3' }, stream }
    await (await post('/v1/audio/transcriptions', body)).text()
    const [record] = recorded.usages
    assert.equal([record?.units, record?.costSource], [{ second: 93 }, 'counted'])
    assert.is(Math.round((record?.costUsd ?? 0) * 1_000), 93)
  }
})
