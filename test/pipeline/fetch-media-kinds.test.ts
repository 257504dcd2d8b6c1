import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { base64, media, openMedia, PDF, PNG } from './support/media.ts'
import type { Respond } from './support/upstream.ts'

const test = suite('audio, videos, and documents by URL')

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const nova = 'bedrock/amazon.nova-pro-v1:0'

/** The file at each URL, with its declared type. */
const files: Readonly<Record<string, readonly [bytes: string, type: string]>> = {
  'a.mp3': ['ID3 sound', 'audio/mpeg'],
  'a.wav': ['RIFF____WAVE', 'application/octet-stream'],
  'a.ogg': ['OggS', 'audio/ogg; codecs=opus'],
  sound: ['RIFF____WAVE', ''],
  'a.mp4': ['____ftyp', 'video/mp4'],
  'a.webm': ['webm', 'binary/octet-stream'],
  'a.pdf': [PDF, 'application/pdf'],
  'a.docx': ['PK document', DOCX],
  'b.docx': ['PK document', 'application/octet-stream'],
  'a.txt': ['words', 'text/plain'],
  'page.mp3': ['<html>', 'text/html'],
  'data.bin': ['?', 'application/octet-stream'],
}

const respond: Respond = ({ url }) => {
  const [bytes, type] = files[url.pathname.slice(1)] ?? ['', '']
  return bytes === '' ? new Response('no', { status: 404 }) : media(new TextEncoder().encode(bytes), type)
}

const getUrl = (name: string) => `https://media.example.com/${name}`

type RequestSpec = (
  uri: string,
  mimeType?: string,
) => [path: (model: string) => string, body: (model: string) => object]

const chat =
  (part: (uri: string) => object): RequestSpec =>
  (uri) => [
    () => '/v1/chat/completions',
    (model) => ({ model, messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, part(uri)] }] }),
  ]

/** Requests that refer to media by URL. */
const requests = {
  image: chat((url) => ({ type: 'image_url', image_url: { url } })),
  audio: chat((url) => ({ type: 'audio_url', audio_url: { url } })),
  video: chat((url) => ({ type: 'video_url', video_url: { url } })),
  file: chat((file_data) => ({ type: 'file', file: { file_data } })),
  document: (uri) => [
    () => '/v1/messages',
    (model) => ({
      model,
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: uri } }] }],
    }),
  ],
  input: (uri) => [
    () => '/v1/responses',
    (model) => ({ model, input: [{ role: 'user', content: [{ type: 'input_file', file_url: uri }] }] }),
  ],
  google: (uri, mimeType) => [
    (model) => `/v1beta/models/${model}:generateContent`,
    () => ({ contents: [{ role: 'user', parts: [{ text: 'What?' }, { fileData: { fileUri: uri, mimeType } }] }] }),
  ],
} as const satisfies Record<string, RequestSpec>

async function send(
  kind: keyof typeof requests,
  model: string,
  uri: string,
  { mimeType = '', fetchMedia = true } = {},
) {
  const opened = await openMedia(respond, { fetchMedia })
  const [path, body] = requests[kind](uri, mimeType || undefined)
  const response = await opened.world.post(path(model), body(model))
  const { error } = await response.json()
  return { ...opened, status: response.status, message: String(error?.message ?? ''), param: error?.param }
}

const getBytes = (name: string) => btoa(files[name]?.[0] ?? '')

test('audio, videos, and documents by URL reach Gemini as bytes', async () => {
  for (const [kind, name, mimeType] of [
    ['audio', 'a.mp3', 'audio/mpeg'],
    ['video', 'a.mp4', 'video/mp4'],
    ['video', 'a.webm', 'video/webm'],
    ['file', 'a.pdf', 'application/pdf'],
    ['document', 'a.docx', DOCX],
    ['input', 'b.docx', DOCX],
  ] as const) {
    const { status, message, sent, fetched } = await send(kind, 'google/g', getUrl(name))
    assert.is(status, 200, message)
    assert.equal(sent().contents[0].parts.at(-1), { inlineData: { mimeType, data: getBytes(name) } })
    assert.equal(fetched, [getUrl(name)])
  }
})

test('audio, videos, and documents by URL are inlined for other targets that accept bytes', async () => {
  const received = async (name: string, mimeType: string) => {
    const { status, message, sent } = await send('google', 'plain/m', getUrl(name), { mimeType })
    assert.is(status, 200, message)
    return sent().messages[0].content[1].input_audio
  }
  assert.equal(await received('a.mp3', 'audio/mpeg'), { data: getBytes('a.mp3'), format: 'mp3' })
  assert.equal(await received('a.wav', 'audio/wav'), { data: getBytes('a.wav'), format: 'wav' })
  assert.equal(await received('sound', 'audio/wav'), { data: getBytes('sound'), format: 'wav' })
  const named = await send('document', 'plain/m', getUrl('a.docx'))
  const file_data = `data:${DOCX};base64,${getBytes('a.docx')}`
  assert.equal(named.sent().messages[0].content[0].file, { file_data, filename: 'file.docx' })
  const seen = await send('video', nova, getUrl('a.mp4'))
  assert.equal(seen.sent().messages[0].content[1], { video: { format: 'mp4', source: { bytes: getBytes('a.mp4') } } })
  const read = await send('document', nova, getUrl('a.docx'))
  assert.equal(read.sent().messages[0].content[0].document.format, 'docx')
  assert.equal(read.sent().messages[0].content[0].document.source, { bytes: getBytes('a.docx') })
})

test("the client's declared media type applies if nothing else indicates the type", async () => {
  const { world, sent } = await openMedia(respond)
  const types = [DOCX, 'application/rtf']
  const parts = types.map((mimeType) => ({ fileData: { fileUri: getUrl('data.bin'), mimeType } }))
  await world.post('/v1beta/models/plain/m:generateContent', { contents: [{ role: 'user', parts }] })
  const files: { file: { file_data: string } }[] = sent().messages[0].content
  assert.equal(
    files.map(({ file }) => file.file_data),
    types.map((type) => `data:${type};base64,${getBytes('data.bin')}`),
  )
})

test('images by URL are downloaded even if the model generated them', async () => {
  const { world, sent, fetched } = await openMedia(() => media(PNG, 'image/png'))
  const image = { type: 'image_url', image_url: { url: getUrl('drawn') } }
  const messages = [
    { role: 'user', content: 'Draw' },
    { role: 'assistant', content: null, images: [image] },
    { role: 'user', content: 'More' },
  ]
  assert.is((await world.chat({ model: 'google/g', messages })).status, 200)
  const inlineData = { mimeType: 'image/png', data: base64 }
  assert.equal(sent().contents[1], { role: 'model', parts: [{ inlineData }] })
  assert.is((await world.chat({ model: nova, messages })).status, 200)
  assert.equal(sent().messages[2].content[1], { image: { format: 'png', source: { bytes: base64 } } })
  assert.equal(fetched, [getUrl('drawn'), getUrl('drawn')])
})

test('audio, videos, and documents by URL stay URLs if the target accepts URLs', async () => {
  const video = await send('google', 'plain/m', getUrl('a.mp4'), { mimeType: 'video/mp4' })
  assert.equal(video.sent().messages[0].content[1], { type: 'video_url', video_url: { url: getUrl('a.mp4') } })
  const youtube = await send('video', 'google/g', 'https://youtu.be/a')
  assert.is(youtube.sent().contents[0].parts[1].fileData.fileUri, 'https://youtu.be/a')
  assert.equal([...video.fetched, ...youtube.fetched], [])
})

for (const [label, kind, model, uri, why] of [
  ['Ogg audio', 'google', 'plain/m', getUrl('a.ogg'), /only accepts audio as WAV or MP3 data\.$/],
  [
    'a web page instead of audio',
    'google',
    'plain/m',
    getUrl('page.mp3'),
    /this audio from "media\.example\.com": its media type is not supported\. Send it as base64\.$/,
  ],
  ['a video without a type', 'video', 'google/g', getUrl('data.bin'), /it is not a video\. Send it as base64\.$/],
  [
    'audio instead of a document',
    'document',
    'google/g',
    getUrl('a.mp3'),
    /it is not a PDF, an Office document, or a text file\. Send it as base64\.$/,
  ],
  ['a missing video', 'video', 'google/g', getUrl('none.mp4'), /returned status 404\. Send it as base64\.$/],
  [
    'a video for a model without video input',
    'video',
    'claude/c',
    getUrl('a.mp4'),
    /does not support video\. Remove it, or use a model that supports it\.$/,
  ],
  [
    'a video at an http URL',
    'video',
    'google/g',
    'http://media.example.com/a.mp4',
    /only https URLs are fetched\. Send it as base64\.$/,
  ],
  [
    'a video on a private network',
    'video',
    'google/g',
    'https://10.0.0.1/a.mp4',
    /only URLs with a public host name are fetched\. Send it as base64\.$/,
  ],
] as const)
  test(`${label} is rejected with advice`, async () => {
    const mimeType = kind === 'google' ? (uri.endsWith('.ogg') ? 'audio/ogg' : 'audio/mpeg') : ''
    const { status, message, sent, upstream } = await send(kind, model, uri, { mimeType })
    assert.equal([status, sent()], [400, null], message)
    assert.match(message, why)
    assert.match(message, /(?:messages|contents|input)\[0\]/)
    assert.is(upstream.open, 0)
  })

test("audio, videos, and documents by URL aren't downloaded if the app disables downloads", async () => {
  for (const [kind, model, name, label] of [
    ['video', 'google/g', 'a.mp4', 'video by URL'],
    ['google', 'plain/m', 'a.mp3', 'audio by URL'],
    ['document', 'google/g', 'a.docx', 'files by URL'],
  ] as const) {
    const mimeType = kind === 'google' ? 'audio/mpeg' : ''
    const { status, message, fetched } = await send(kind, model, getUrl(name), { mimeType, fetchMedia: false })
    assert.is(status, 400)
    assert.match(message, `the target does not support ${label}. Send the bytes as base64.`)
    assert.equal(fetched, [])
  }
})

const googleFiles = ['gs://bucket/a.png', 'https://generativelanguage.googleapis.com/v1beta/files/a']

test('files stored at Google reach Google from clients of any format', async () => {
  for (const uri of googleFiles)
    for (const kind of ['image', 'file', 'video', 'document', 'input'] as const) {
      const { status, message, sent, fetched } = await send(kind, 'google/g', uri)
      assert.is(status, 200, message)
      assert.is(sent().contents[0].parts.at(-1).fileData.fileUri, uri)
      assert.equal(fetched, [])
    }
})

test('files stored at Google are rejected for other targets, and the error explains what to send', async () => {
  const params: Record<WireFormat, RegExp> = {
    'openai-chat': /^messages\[0\]\.content\[1\]/,
    'openai-responses': /^input\[0\]\.content\[0\]/,
    'anthropic-messages': /./,
    gemini: /./,
  }
  for (const uri of googleFiles)
    for (const [kind, model, format] of [
      ['image', 'claude/c', 'openai-chat'],
      ['file', 'claude/c', 'openai-chat'],
      ['input', 'claude/c', 'openai-responses'],
      ['document', 'plain/m', 'anthropic-messages'],
      ['google', 'plain/m', 'gemini'],
    ] as const) {
      const { status, message, param = 'none', fetched, sent } = await send(kind, model, uri, { mimeType: 'image/png' })
      assert.equal([status, sent(), fetched], [400, null, []])
      assert.match(message, /a file ID is only valid with its own vendor\. Send the file as base64\.$/)
      assert.match(param, params[format])
    }
})
