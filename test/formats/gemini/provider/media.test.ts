import type { UserPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import type { Traits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { call, contents, EMPTY, QUESTION, result, send, text } from '../support/write-request.ts'

const media = suite('media for a Gemini provider')

const PNG = 'iVBORw0KGgoAAAAN'
const png = { type: 'base64', mediaType: 'image/png', data: PNG } as const

for (const [name, part, expected] of [
  ['an image', { type: 'image', source: png }, { inlineData: { mimeType: 'image/png', data: PNG } }],
  ['a text', { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'é' } }, { text: 'é' }],
  [
    'a video by URL',
    { type: 'video', source: { type: 'url', url: 'https://youtu.be/x' }, endOffset: '3s' },
    { fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/x' }, videoMetadata: { endOffset: '3s' } },
  ],
] as [string, UserPart, object][])
  media(`writes ${name}`, () => {
    assert.equal(contents({ role: 'user', content: [part] }), [{ role: 'user', parts: [expected] }])
  })

media('an image URL goes only to targets that can fetch it', () => {
  const image: Turn = {
    role: 'user',
    content: [{ type: 'image', source: { type: 'url', url: 'https://a.com/b.webp' } }],
  }
  assert.throws(() => contents(image), /images by URL/)
  const { body } = send({ turns: [image] }, { inputs: ['image', 'image-url'] })
  assert.equal(Object(body.contents)[0].parts, [
    { fileData: { mimeType: 'image/webp', fileUri: 'https://a.com/b.webp' } },
  ])
})

media("a file stored at Google goes to Google, and another vendor's file is rejected", () => {
  const { target } = contexts(geminiTranslator)
  const write = (format: 'gemini' | 'openai-chat') =>
    geminiTranslator.writeRequest(
      {
        ...EMPTY,
        turns: [
          {
            role: 'user',
            content: [{ type: 'file', source: { type: 'file-id', id: 'x', format, mediaType: 'text/csv' } }],
          },
        ],
      },
      target,
    ).body.contents
  assert.equal(Object(write('gemini'))[0].parts, [{ fileData: { mimeType: 'text/csv', fileUri: 'x' } }])
  assert.throws(() => write('openai-chat'), /not stored at Google/)
})

media('media in a function result get separate parts, or follow the results', () => {
  const history: Turn[] = [
    QUESTION,
    { role: 'assistant', content: [call('a')] },
    { role: 'tool', results: [result('a', [text('see'), { type: 'image', source: png }])] },
  ]
  const last = (traits?: Partial<Traits>) => Object(send({ turns: history }, traits).body.contents)[2].parts
  const inlineData = { mimeType: 'image/png', data: PNG }
  assert.equal(last(), [
    { functionResponse: { id: 'a', name: 'f', response: { output: 'see' }, parts: [{ inlineData }] } },
  ])
  const moved = last({ toolResultInputs: [] })
  assert.equal([moved.length, moved[0].functionResponse.parts, moved[2]], [3, undefined, { inlineData }])
})

media('the global media resolution is set if all images share it', () => {
  const sendRequest = (...details: ('low' | 'high' | 'auto')[]) =>
    send({ turns: [{ role: 'user', content: details.map((detail) => ({ type: 'image', source: png, detail })) }] })
  const getResolution = (sent: ReturnType<typeof sendRequest>) =>
    Object(sent.body.generationConfig ?? {}).mediaResolution
  assert.is(getResolution(sendRequest('low', 'auto', 'low')), 'MEDIA_RESOLUTION_LOW')
  assert.is(getResolution(sendRequest('auto')), undefined)
  assert.is(getResolution(sendRequest('low', 'high')), undefined)
  assert.equal(sendRequest('low', 'high').warnings, ['dropped:generationConfig.mediaResolution'])
})
