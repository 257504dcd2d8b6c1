import { type ErrorCode, gatewayError } from '../../src/errors.ts'
import type { RequestStep } from '../../src/request/steps.ts'
import { assert, suite } from '../support/suite.ts'
import { createManaged } from './support/compaction.ts'
import { formatAttempt, openWith } from './support/steps.ts'

const test = suite('steps that reject requests and targets')

/** Creates a step that prepares each request. */
const preparing =
  (prepare: (request: Parameters<RequestStep>[0]) => void): RequestStep =>
  (request, next) => {
    prepare(request)
    return next()
  }

test('a step around an attempt can reject the entire request, so no other target is tried or listed', async () => {
  for (const path of ['/v1/chat/completions', '/v1/messages']) {
    let attempts = 0
    const { post, upstream, requests } = await openWith({
      aroundAttempt: [
        async (attempt) => {
          attempts++
          attempt.failRequest(gatewayError('RATE_LIMIT_EXCEEDED', { message: 'Later.' }))
        },
      ],
    })
    const reply = await post(path, { model: 'both', max_tokens: 9 })
    assert.is(reply.status, 429)
    assert.match(await reply.text(), 'Later.')
    assert.equal([attempts, upstream.calls.length, reply.headers.get('x-signalbox-attempts')], [1, 0, null])
    assert.equal(
      requests.map(({ end, error, skipped }) => [end, error, skipped]),
      [['refused', 'RATE_LIMIT_EXCEEDED', undefined]],
    )
  }
})

test('rejecting the entire request takes precedence over rejecting a single target', async () => {
  const { chat } = await openWith({
    aroundAttempt: [
      async (attempt) => {
        if (attempt.target.provider.endsWith('one')) throw gatewayError('BUDGET_EXCEEDED', { message: 'Too dear.' })
        attempt.failRequest(gatewayError('RATE_LIMIT_EXCEEDED', { message: 'Later.' }))
      },
    ],
  })
  const reply = await chat({})
  assert.equal([reply.status, (await reply.json()).error.message], [429, 'Later.'])
})

test('a step around a request can add steps around its attempts', async () => {
  const seen: string[] = []
  let isFirst = true
  const { chat } = await openWith({
    aroundRequest: [
      preparing(({ log }) => {
        if (!isFirst) return
        isFirst = false
        log.aroundAttempt.push(async ({ target }, next) => {
          const { outcome } = await next()
          seen.push(`${target.provider.slice(18)} ${outcome}`)
        })
      }),
    ],
  })
  assert.is((await chat({})).status, 200)
  assert.is((await chat({})).status, 200)
  assert.equal(seen, ['one server', 'two answered'])
})

test('a forbidden target is skipped, and the client gets the error if all targets are forbidden', async () => {
  const { chat, post, upstream } = await openWith({
    aroundRequest: [
      preparing(({ log }) => {
        log.targetRules.push(({ call }, { provider }) =>
          provider.endsWith('one') || call.model.startsWith('two')
            ? gatewayError('MODEL_NOT_ALLOWED', { message: `Not ${provider}.` })
            : undefined,
        )
      }),
    ],
  })
  const response = await chat({})
  assert.equal([response.status, upstream.providers], [200, ['two']])
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^openai-compatible-one\/m=skipped:refused/)
  for (const model of ['one/m', 'two/m']) {
    const rejected = await chat({ model })
    const { error } = await rejected.json()
    assert.equal([rejected.status, error.code], [403, 'model_not_allowed'])
    assert.match(error.message, `Not openai-compatible-${model.slice(0, 3)}.`)
    const count = await post('/v1/messages/count_tokens', { model })
    assert.is(count.status, 403, "the gateway's own count is rejected too")
  }
  assert.is(upstream.calls.length, 1)
})

test("a forbidden target doesn't count as untried", async () => {
  const { chat, requests } = await openWith({
    aroundRequest: [
      preparing(({ log }) => {
        log.targetRules.push((_, { provider }) =>
          provider.endsWith('two') ? gatewayError('MODEL_NOT_ALLOWED') : undefined,
        )
      }),
    ],
  })
  assert.is((await chat({})).status, 503)
  assert.is(requests[0]?.stopped, undefined)
})

test('an attempt settles before the request moves to its next target or replies', async () => {
  const seen: string[] = []
  const { chat } = await openWith({
    aroundRequest: [
      async ({ log }, next) => {
        log.aroundAttempt.push((attempt, makeIt) => {
          seen.push(`begin ${attempt.target.provider.slice(18)}`)
          attempt.onSettled((record) => seen.push(formatAttempt(record)))
          return makeIt()
        })
        const reply = await next()
        seen.push('reply')
        return reply
      },
    ],
  })
  await chat({})
  assert.equal(seen, ['begin one', 'server -', 'begin two', 'answered 1', 'reply'])
})

const codes: ReadonlyArray<[code: ErrorCode, status: number, openai: string, anthropic: string, google: string]> = [
  ['BUDGET_EXCEEDED', 402, 'insufficient_quota', 'billing_error', 'FAILED_PRECONDITION'],
  ['REQUEST_TOO_EXPENSIVE', 402, 'insufficient_quota', 'billing_error', 'FAILED_PRECONDITION'],
  ['RATE_LIMIT_EXCEEDED', 429, 'rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  ['MODEL_NOT_ALLOWED', 403, 'permission_error', 'permission_error', 'PERMISSION_DENIED'],
]

for (const [code, status, openai, anthropic, google] of codes)
  test(`the error code ${code} is in the expected place for each client format`, async () => {
    const rejectRequest: RequestStep = async () => {
      throw gatewayError(code, { message: 'No.', headers: { 'retry-after': '7' } })
    }
    const { post } = await openWith({ aroundRequest: [rejectRequest] })
    const read = async (path: string) => {
      const reply = await post(path, {})
      assert.is(reply.status, status)
      const again = status === 429 ? null : 'false'
      assert.equal([reply.headers.get('retry-after'), reply.headers.get('x-should-retry')], ['7', again])
      return reply.json()
    }
    const small = code.toLowerCase()
    for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/responses'])
      assert.equal(await read(path), { error: { message: 'No.', type: openai, param: null, code: small } })
    assert.equal(await read('/v1/messages'), {
      type: 'error',
      error: { type: anthropic, message: 'No.', code: small },
      request_id: null,
    })
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: small, domain: 'signalbox' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' },
    ]
    assert.equal(await read('/v1beta/models/both:generateContent'), {
      error: { code: status, message: 'No.', status: google, details },
    })
  })

test('a step runs before each additional call of an attempt, and can end the request', async () => {
  for (const isRejected of [false, true]) {
    const spent: number[] = []
    const { post, upstream, requests } = await openWith({
      aroundAttempt: [
        (attempt, next) => {
          attempt.beforeFollowUp(async (spending) => {
            spent.push(spending?.usage.outputTokens ?? 0)
            if (isRejected) throw gatewayError('BUDGET_EXCEEDED', { message: 'Nothing is left.' })
          })
          return next()
        },
      ],
    })
    const reply = await post('/v1/responses', { model: 'two/m', ...createManaged(10) })
    assert.is(reply.status, isRejected ? 402 : 200, await reply.clone().text())
    if (isRejected) assert.match((await reply.json()).error.message, 'Nothing is left.')
    assert.equal([spent, upstream.calls.length], [[1], isRejected ? 1 : 2])
    assert.is(requests[0]?.attempts[0]?.usage?.outputTokens, isRejected ? 1 : 2)
  }
})
