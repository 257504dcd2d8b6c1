import { encodeUtf8, toBase64Url } from '../../../../src/lib/bytes.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { assert, suite } from '../../../support/suite.ts'
import { parse } from '../support/parse-request.ts'

const getTurns = (...contents: object[]): Turn[] => parse({ contents }).turns
const user = (...parts: object[]) => ({ role: 'user', parts })

const media = suite('media in a Gemini request')

const PNG = 'iVBORw0KGgoAAAAN'
const base64 = (mediaType: string, data: string) => ({ type: 'base64', mediaType, data })

for (const [name, part, expected] of [
  [
    'an image',
    { inlineData: { mimeType: 'image/png', data: PNG } },
    { type: 'image', source: base64('image/png', PNG) },
  ],
  [
    'bytes with the wrong media type',
    { inlineData: { mimeType: 'image/jpeg', data: PNG } },
    { type: 'image', source: base64('image/png', PNG) },
  ],
  [
    'audio',
    { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
    { type: 'audio', source: base64('audio/wav', 'UklG') },
  ],
  [
    'a video clip',
    { inlineData: { mimeType: 'video/mp4', data: 'AAAA' }, videoMetadata: { fps: 2, startOffset: '1.5s' } },
    { type: 'video', source: base64('video/mp4', 'AAAA'), fps: 2, startOffset: '1.5s' },
  ],
  [
    'text in URL-safe base64',
    { inlineData: { mimeType: 'text/plain', data: toBase64Url(encodeUtf8('ÿþ?')) } },
    { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'ÿþ?' } },
  ],
  [
    'a URL',
    { fileData: { fileUri: 'https://example.com/a.png?x=1' } },
    { type: 'image', source: { type: 'url', url: 'https://example.com/a.png?x=1' } },
  ],
  [
    'a video URL',
    { fileData: { fileUri: 'https://youtu.be/abc' } },
    { type: 'video', source: { type: 'url', url: 'https://youtu.be/abc' } },
  ],
  [
    'a file at Google',
    {
      file_data: { file_uri: 'https://generativelanguage.googleapis.com/v1beta/files/x', mime_type: 'application/pdf' },
    },
    {
      type: 'file',
      source: {
        type: 'file-id',
        id: 'https://generativelanguage.googleapis.com/v1beta/files/x',
        format: 'gemini',
        mediaType: 'application/pdf',
      },
    },
  ],
  [
    'a file in a bucket',
    { fileData: { fileUri: 'gs://bucket/a.wav', mimeType: 'audio/wav' } },
    { type: 'audio', source: { type: 'file-id', id: 'gs://bucket/a.wav', format: 'gemini', mediaType: 'audio/wav' } },
  ],
  [
    'an image with high detail',
    { inlineData: { mimeType: 'image/png', data: PNG }, mediaResolution: { level: 'MEDIA_RESOLUTION_HIGH' } },
    { type: 'image', source: base64('image/png', PNG), detail: 'high' },
  ],
] as [string, object, object][])
  media(`parses ${name}`, () => assert.equal(getTurns(user(part))[0], { role: 'user', content: [expected] }))

media('the global media resolution applies to each image', () => {
  const { turns: recorded } = parse({
    contents: [user({ inlineData: { mimeType: 'image/png', data: PNG } })],
    generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' },
  })
  assert.equal(recorded[0], {
    role: 'user',
    content: [{ type: 'image', source: base64('image/png', PNG), detail: 'low' }],
  })
})
