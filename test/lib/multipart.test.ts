import { isGatewayError } from '../../src/errors.ts'
import { concatBytes, encodeUtf8 } from '../../src/lib/bytes.ts'
import { type FormPart, getFileExtension, isFile, parseForm, serializeForm } from '../../src/lib/multipart.ts'
import { cpuMs } from '../support/cpu-time.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('multipart forms with files')

const TYPE = 'multipart/form-data; boundary=b'
const form = (...lines: string[]) => encodeUtf8(lines.join('\r\n'))
const field = (name: string, value: string) => ['--b', `Content-Disposition: form-data; name="${name}"`, '', value]
const END = ['--b--', '']

test('parsing preserves the order, names, types, and bytes of parts', () => {
  const bytes = concatBytes([
    form('preamble', '--b', 'content-disposition: form-data; name="file"; filename="C:\\dir\\a \\"b\\".mp3"', ''),
    form('Content-Type: audio/mpeg; x=y', '', ''),
    new Uint8Array([0, 13, 10, 45, 45, 13, 13, 10, 45, 45, 97, 255]),
    form(
      '',
      ...field('model', 'one/ä'),
      '--b  ',
      'Content-Disposition:form-data;name=empty',
      '',
      '',
      '--b--',
      'epilogue',
    ),
  ])
  const parts = parseForm(bytes, TYPE)
  assert.equal(
    parts.map(({ name, ...part }) => [
      name,
      'value' in part ? part.value : [part.fileName, part.type, part.bytes.length],
    ]),
    [
      ['file', ['a "b".mp3', 'audio/mpeg', 12]],
      ['model', 'one/ä'],
      ['empty', ''],
    ],
  )
  const file = parts.find(isFile)
  assert.is(file?.bytes.buffer, bytes.buffer, 'a file is a view of the upload')
})

test('field and file names are parsed the way browsers and libraries write them', () => {
  const getName = (disposition: string) => {
    const [part] = parseForm(form('--b', `content-disposition: form-data; ${disposition}`, '', 'x', ...END), TYPE)
    return part && isFile(part) ? [part.name, part.fileName] : [part?.name]
  }
  assert.equal(getName('name="a%22b"; filename="c%22.wav"'), ['a"b', 'c".wav'])
  assert.equal(getName("name=a; filename*=UTF-8''%C3%A4.wav"), ['a', 'ä.wav'])
  assert.equal(getName('filename="../../x.wav"; name="file"'), ['file', 'x.wav'])
  assert.equal(getName('name="file"; filename=""'), ['file', undefined])
})

test('fields are written before files, with a random boundary, and files without a name get one', () => {
  const sent: FormPart[] = [
    { name: 'image[]', fileName: 'a"\r\n.png', type: 'image/png', bytes: new Uint8Array([1, 2]) },
    { name: 'model', value: 'm' },
    { name: 'file', fileName: undefined, type: 'audio/mpeg', bytes: new Uint8Array([3]) },
    { name: 'other', fileName: undefined, type: '', bytes: new Uint8Array(0) },
  ]
  const [first, two] = [serializeForm(sent), serializeForm(sent)]
  assert.ok(first.contentType !== two.contentType)
  assert.match(first.contentType, /boundary=-{4}[\da-f]{48}$/)
  assert.equal(parseForm(first.bytes, first.contentType), [
    { name: 'model', value: 'm' },
    { name: 'image[]', fileName: 'a"%0D%0A.png', type: 'image/png', bytes: new Uint8Array([1, 2]) },
    { name: 'file', fileName: 'file.mp3', type: 'audio/mpeg', bytes: new Uint8Array([3]) },
    { name: 'other', fileName: 'other.bin', type: 'application/octet-stream', bytes: new Uint8Array(0) },
  ])
})

test('every form that is written can be parsed, even with bytes that look like boundaries', () => {
  const random = createRandom(35)
  const pick = random.below
  const signs = [13, 10, 45, 45, 98, 0, 255]
  for (let run = 0; run < (process.env.CI ? 2_000 : 200); run++) {
    const parts = Array.from({ length: pick(6) }, (_, index): FormPart => {
      const bytes = Uint8Array.from({ length: pick(40) }, () => signs[pick(signs.length)] ?? 0)
      return index % 2 === 0
        ? { name: `n${index}[]`, value: '\r\n--b'.repeat(pick(3)) }
        : { name: `n${index}`, fileName: 'f.bin', type: 'application/octet-stream', bytes }
    })
    const { bytes, contentType } = serializeForm(parts)
    const read = parseForm(bytes, contentType)
    assert.equal(read, [...parts.filter((part) => !isFile(part)), ...parts.filter(isFile)])
  }
})

const part = field('model', 'm')
const disposition = (text: string) => form('--b', text, '', 'x', ...END)
const malformed: Record<string, [bytes: Uint8Array, type?: string]> = {
  'a content type without a boundary': [form(...part, ...END), 'multipart/form-data'],
  'an empty boundary': [form(...part, ...END), 'multipart/form-data; boundary=""'],
  'a boundary that is too long': [form(...part, ...END), `multipart/form-data; boundary=${'b'.repeat(71)}`],
  'a body with another boundary': [form(...part, ...END), 'multipart/form-data; boundary=c'],
  'an empty body': [new Uint8Array(0)],
  'a form without parts or a closing boundary': [form('--b')],
  'a part without a closing boundary': [form(...part)],
  'a part that is truncated in its headers': [form('--b', 'Content-Disposition: form-da')],
  'a boundary in the middle of a line': [form('--bb', '', '')],
  'line feeds without carriage returns': [
    encodeUtf8(
      form(...part, ...END)
        .reduce((text, code) => text + String.fromCharCode(code), '')
        .replaceAll('\r', ''),
    ),
  ],
  'a part without headers': [form('--b', '', 'x', ...END)],
  'a part without a Content-Disposition': [disposition('content-type: text/plain')],
  'a disposition type other than form-data': [disposition('content-disposition: attachment; name="a"')],
  'a part without a name': [disposition('content-disposition: form-data')],
  'a part with an empty name': [disposition('content-disposition: form-data; name=""')],
  'a name that is too long': [disposition(`content-disposition: form-data; name="${'n'.repeat(301)}"`)],
  'a part with two dispositions': [
    disposition('content-disposition: form-data; name="a"\r\ncontent-disposition: form-data; name="b"'),
  ],
  'a header without a name': [disposition(': form-data; name="a"')],
  'a line that is not a header': [disposition('content-disposition: form-data; name="a"\r\nhello')],
  'headers without an end': [
    form('--b', `content-disposition: form-data; name="a"; x="${'x'.repeat(10_000)}"`, '', '', ...END),
  ],
  'a part in base64': [disposition('content-disposition: form-data; name="a"\r\ncontent-transfer-encoding: base64')],
  'a part in quoted-printable': [
    disposition('content-disposition: form-data; name="a"\r\ncontent-transfer-encoding: quoted-printable'),
  ],
  'a field that is not UTF-8': [
    concatBytes([
      form('--b', 'content-disposition: form-data; name="a"', '', ''),
      new Uint8Array([255, 254]),
      form('', ...END),
    ]),
  ],
  'a file name that is not UTF-8': [disposition("content-disposition: form-data; name=a; filename*=utf-8''%ff")],
  'too many parts': [form(...Array.from({ length: 1_001 }, () => part).flat(), ...END)],
}

for (const [label, [bytes, type = TYPE]] of Object.entries(malformed))
  test(`the multipart parser rejects ${label} with the reason`, () => {
    try {
      parseForm(bytes, type)
    } catch (error) {
      assert.ok(isGatewayError(error, 'INVALID_REQUEST'), String(error))
      return assert.match(error.message, /^The form \(multipart\/form-data\) cannot be read: .{15,}\.$/)
    }
    throw new Error('It was read.')
  })

test('a form that is truncated at any byte is rejected', () => {
  const full = form(...field('a', 'x'), ...field('b', 'yy'), '--b--')
  for (let end = 0; end < full.length; end++)
    assert.throws(
      () => parseForm(full.subarray(0, end), TYPE),
      (error: unknown) => isGatewayError(error, 'INVALID_REQUEST'),
    )
  assert.is(parseForm(full, TYPE).length, 2)
})

test('parsing takes linear time even if bytes resemble boundaries', () => {
  const almost = encodeUtf8(`\r\n--${'--\r\n'.repeat(200_000)}--`)
  const ms = cpuMs(() => assert.throws(() => parseForm(almost, 'multipart/form-data; boundary=----x')))
  assert.ok(ms < 1_000, `${ms} ms`)
})

test('media types are mapped to file extensions', () => {
  const types = ['audio/mpeg', 'audio/x-wav', 'audio/flac', 'image/jpeg', 'application/octet-stream', '']
  assert.equal(types.map(getFileExtension), ['mp3', 'wav', 'flac', 'jpg', 'bin', 'bin'])
})
