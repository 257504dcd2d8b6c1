import { createListReply } from '../../src/admin/http/operation-routes.ts'
import { isByteStream } from '../../src/lib/exchange.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a long list in the management API')

test("streams a long list at the client's pace, and stops when the client disconnects", async () => {
  let written = 0
  const list = Array.from({ length: 1_200 }, (_, index) => ({ toJSON: () => ++written && index }))
  const { body } = createListReply(200, { list })
  if (!isByteStream(body)) throw new Error('not piece by piece')
  assert.is(written, 0)
  assert.match(new TextDecoder().decode(await body.next()), /^\{"list":\[0,1,.*,499$/)
  body.cancel()
  assert.is(await body.next(), undefined)
  assert.is(written, 500)
})
