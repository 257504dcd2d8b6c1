import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('requests to /api/explain')

const HEADERS = 'must be an object that maps header names to strings'
const BODY = '"body" must be an object (the request body)'
const refusals: Array<[question: unknown, error: string | RegExp]> = [
  [{}, '"model" is required and must not be blank'],
  [{ model: ' ' }, '"model" must not be blank'],
  [{ model: 7 }, '"model" must be a string'],
  [{ model: 'a', body: 'b' }, BODY],
  [{ model: 'a', body: [] }, BODY],
  [{ model: 'a', body: null }, BODY],
  [{ model: 'a', headers: ['b'] }, `"headers" ${HEADERS}`],
  [{ model: 'a', headers: 'b' }, `"headers" ${HEADERS}`],
  [{ model: 'a', headers: { 'x-team': 7 } }, '"headers.x-team" must be a string'],
  [{ model: 'a', path: 7 }, '"path" must be a string'],
  [{ model: 'a', path: '/v1/models' }, /^"path" must be one of "\/v1\/chat\/completions", .*"\/v1\/messages".*\.$/],
  [
    { model: 'a', strategy: 'random' },
    'Unknown field "strategy". Known: "model", "body", "headers", "path", "keyId", "account".',
  ],
]
for (const [request, error] of refusals) {
  test(`rejects the explain request ${JSON.stringify(request)}`, async () => {
    const { expect, gateway } = openManagement()
    const response = await expect(400, 'POST', '/api/explain', request)
    assert.equal(Object.keys(response), ['error'])
    if (typeof error === 'string') assert.is(response.error, error)
    else assert.match(response.error, error)
    const reason = await gateway.api.explain(request as { model: string }).catch((error: Error) => error.message)
    assert.is(reason, response.error, 'in process too')
  })
}

test('an unknown model is a result, not an error', async () => {
  const { expect } = openManagement({ catalog: {} })
  const response: object = await expect(200, 'POST', '/api/explain', { model: 'nobody/m' })
  const message = 'The model "nobody/m" does not exist. GET /v1/models lists the available models.'
  const error = { status: 404, code: 'MODEL_NOT_FOUND', message }
  assert.equal(response, { model: 'nobody/m', targets: [], leftOut: [], error })
})
