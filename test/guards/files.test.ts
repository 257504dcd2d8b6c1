import { pii, words } from '../../src/features/guards/guards.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD } from './world.ts'

const test = suite('guards on files and forms')

const ADDRESS = 'ann@mail.example'
const masks = pii({ name: 'm', types: ['email'], action: 'mask' })
const toChat = (content: unknown) => ({ model: 'one/m', messages: [{ role: 'user', content }] })
const toFile = (data: string) => toChat([{ type: 'file', file: { filename: 'a', file_data: data } }])
const toUtf16 = (text: string) => btoa(Array.from(text, (letter) => `${letter}\0`).join(''))

/** Returns the decoded text of the first base64 string or data URL in a request. */
function readFile(body: string): string {
  const [, percent] = /"data:[^",]*utf8,([^"]+)"/.exec(body) ?? []
  const [, base64 = ''] = /"(?:data:[^",]*,)?([\w+/]{12,}={0,2})"/.exec(body) ?? []
  return percent === undefined ? atob(base64) : decodeURIComponent(percent)
}

for (const [title, path, body, expected] of [
  ['a data URL', '/v1/chat/completions', toFile(`data:text/plain;base64,${btoa(`To ${ADDRESS}.`)}`), 'To EMAIL.'],
  ['base64 without a type', '/v1/chat/completions', toFile(btoa(`To ${ADDRESS}.`)), 'To EMAIL.'],
  [
    'an SVG image',
    '/v1/chat/completions',
    toChat([{ type: 'image_url', image_url: { url: `data:image/svg+xml;utf8,<svg><text>${ADDRESS}</text></svg>` } }]),
    '<svg><text>EMAIL</text></svg>',
  ],
  [
    'a document',
    '/v1/messages',
    {
      ...toChat([
        {
          type: 'document',
          source: { type: 'base64', media_type: 'text/csv', data: btoa(`a,${ADDRESS}\n`.repeat(100)) },
        },
      ]),
      max_tokens: 9,
    },
    'a,EMAIL\n'.repeat(100),
  ],
  [
    'inline data',
    '/v1beta/models/one/m:generateContent',
    { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'text/plain', data: btoa(`To ${ADDRESS}.`) } }] }] },
    'To EMAIL.',
  ],
] as const)
  test(`an address in ${title} is masked`, async () => {
    const format = path.includes('beta') ? 'gemini' : path.endsWith('messages') ? 'anthropic-messages' : 'openai-chat'
    const { send, upstream } = await openWorld([masks], { format })
    await send(path, body)
    assert.is(readFile(upstream.calls[0]?.body ?? '').replaceAll(/EMAIL-1-\w{4}/g, 'EMAIL'), expected)
  })

for (const [title, data] of [
  ['a UTF-16 file', `data:text/plain;base64,${toUtf16(`To ${ADDRESS}.`)}`],
  ['a Latin-1 file', `data:text/plain;charset=latin1;base64,${btoa(`\xe9 ${ADDRESS}`)}`],
  ['malformed base64', `data:text/plain;base64,${btoa(`To ${ADDRESS}.`).replace(/^(.{5})/, '$1!')}`],
  ["a data URL's parameters", `data:application/pdf;name=${ADDRESS};base64,AAAA`],
] as const)
  test(`an address in ${title}, where it can't be masked, is rejected`, async () => {
    const { send, upstream } = await openWorld([masks])
    const response = await send('/v1/chat/completions', toFile(data))
    assert.is(response.status, 400, await response.text())
    assert.equal(upstream.calls, [])
  })

/** Creates a transcription form. */
function createForm(fields: ReadonlyArray<readonly [string, string]>, fileName = 'a.wav'): FormData {
  const form = new FormData()
  form.set('model', 'one/m')
  for (const [name, value] of fields) form.append(name, value)
  form.append('file', new Blob(['RIFF'], { type: 'audio/wav' }), fileName)
  return form
}

for (const [title, form] of [
  [
    'a list',
    createForm([
      ['known_speaker_names[]', 'Bo'],
      ['known_speaker_names[]', ADDRESS],
    ]),
  ],
  [
    'a repeated field',
    createForm([
      ['include', 'Bo'],
      ['include', ADDRESS],
    ]),
  ],
  [
    'a numbered field',
    createForm([
      ['k[0]', ADDRESS],
      ['k[1]', 'Bo'],
    ]),
  ],
  [
    'a nested field',
    createForm([
      ['k[a]', ADDRESS],
      ['k[b]', 'Bo'],
    ]),
  ],
  ['an address as the file name', createForm([], `${ADDRESS}.wav`)],
] as const)
  test(`an address in a form with ${title} is masked`, async () => {
    const { send, upstream } = await openWorld([masks])
    await send('/v1/audio/transcriptions', form)
    const bytes = (upstream.calls[0]?.body ?? '').split(',') // the format that `String` gives a byte array
    const sent = new TextDecoder().decode(Uint8Array.from(bytes, Number))
    assert.match(sent, /EMAIL-1-/)
    assert.not.match(sent, ADDRESS)
    if (title !== 'an address as the file name') assert.match(sent, 'Bo')
  })

for (const [title, fields] of [
  [
    'a nested field is repeated',
    [
      ['k[a]', WORD],
      ['k[a]', 'x'],
    ],
  ],
  [
    'a field has both a value and nested fields',
    [
      ['prompt', WORD],
      ['prompt[a]', 'x'],
    ],
  ],
] as const)
  test(`a form in which ${title} is rejected`, async () => {
    const { send, upstream } = await openWorld([words({ name: 'w', words: [WORD] })])
    const response = await send('/v1/audio/transcriptions', createForm(fields))
    assert.is(response.status, 400)
    assert.match(await response.text(), 'several values')
    assert.equal(upstream.calls, [])
  })

test('a body nested 10,000 levels deep gets a 400', async () => {
  for (const guard of [masks, words({ name: 'w', words: [WORD] })]) {
    const { send, upstream } = await openWorld([guard])
    const deep = `${'['.repeat(10_000)}"${WORD} ${ADDRESS}"${']'.repeat(10_000)}`
    const response = await send('/v1/chat/completions', `{"model":"one/m","messages":[],"x":${deep}}`)
    assert.is(response.status, 400)
    assert.equal(upstream.calls, [])
  }
})
