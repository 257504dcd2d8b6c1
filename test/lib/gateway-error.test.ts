import { gatewayError, isGatewayError, toGatewayError } from '../../src/errors.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('gateway errors')

test('a gateway error has the status and the text of its code unless details replace them', () => {
  const plain = gatewayError('KEY_PAUSED')
  assert.is(plain.status, 403)
  assert.match(plain.message, /^This API key is paused\./)
  assert.equal([plain.data, plain.headers, 'cause' in plain], [{}, {}, false])
  const cause = new Error('connection reset')
  const data = { provider: 'openai' }
  const detailed = gatewayError('UPSTREAM_FAILED', {
    message: 'Down.',
    status: 503,
    cause,
    data,
    headers: { allow: 'GET' },
  })
  assert.equal([detailed.message, detailed.status, detailed.data], ['Down.', 503, data])
  assert.equal([detailed.cause, detailed.headers], [cause, { allow: 'GET' }])
  assert.is(gatewayError('UPSTREAM_FAILED').message, 'UPSTREAM_FAILED')
})

test('the stack of a gateway error starts in the code that created it', () => {
  const stack = gatewayError('CLOSED').stack?.split('\n') ?? []
  assert.match(stack.slice(1, 3).join('\n'), /gateway-error\.test\.ts/)
})

test('an error of another library with the same fields is not a gateway error', () => {
  const other = Object.assign(new Error('Not found'), { code: 'NOT_FOUND', status: 404, data: {}, headers: {} })
  assert.not.ok(isGatewayError(other))
  assert.not.ok(isGatewayError({ ...gatewayError('NOT_FOUND') }))
  assert.equal([toGatewayError(other).code, toGatewayError(other).cause], ['INTERNAL', other])
})

test('isGatewayError can check the code, also for an error from another copy of the package', async () => {
  assert.ok(isGatewayError(gatewayError('CLOSED'), 'CLOSED'))
  assert.not.ok(isGatewayError(gatewayError('CLOSED'), 'DRAINING'))
  const copy: typeof import('../../src/errors.ts') = await import(`${'../../src/errors.ts'}?copy`)
  assert.is.not(copy.gatewayError, gatewayError)
  assert.ok(isGatewayError(copy.gatewayError('CLOSED'), 'CLOSED'))
})
