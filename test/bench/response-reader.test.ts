import { assert, suite } from '../support/suite.ts'
import { ResponseReader } from './response-reader.ts'
import { STAMP_LENGTH, STAMP_MARK, StampScanner } from './stamps.ts'

const test = suite("the load generator's response reader")

const stamp = (us: number) => STAMP_MARK + String(us).padStart(STAMP_LENGTH, '0')
const content = `data: ${stamp(7)} word\n\ndata: ${stamp(8)} word\n\n`
const wire = [
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}',
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n${content.slice(0, 32)}\r\n${(content.length - 32).toString(16)}\r\n${content.slice(32)}\r\n0\r\n\r\n`,
  'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy',
].join('')

for (const size of [1, 2, 3, 7, 40, wire.length])
  test(`responses that arrive in chunks of ${size} bytes are read in full, with every timestamp`, () => {
    const ends: [number, string][] = []
    const stamps: number[] = []
    let body = ''
    const scanner = new StampScanner()
    const reader = new ResponseReader({
      onBody(piece) {
        body += piece.toString()
        scanner.scan(piece, (sentUs) => stamps.push(sentUs))
      },
      onEnd: (status, text) => ends.push([status, text]),
    })
    for (let index = 0; index < wire.length; index += size) reader.read(Buffer.from(wire.slice(index, index + size)))
    assert.equal(ends, [
      [200, ''],
      [200, ''],
      [503, 'busy'],
    ])
    assert.is(body, `{}${content}`)
    assert.equal(stamps, [7, 8])
  })
