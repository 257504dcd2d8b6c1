import { inspect } from 'node:util'
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose'
import type { NewToken } from '../../src/features/tokens/token-input.ts'
import { assert, suite } from '../support/suite.ts'
import { claims, forge, getCode, SECRET, START_S, tokenWorld } from './support/token-world.ts'

const test = suite('minting and verifying tokens')

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a minted token contains the given claims, an id, and an expiry, and is accepted', async () => {
  const { mint, verify } = tokenWorld({ allowedOrigins: ['https://app.example'] })
  const input: NewToken = {
    account: 'alice',
    plan: 'pro',
    models: ['fast'],
    kinds: ['llm'],
    origins: ['https://app.example'],
    limits: { requests: { total: 1 } },
    metadata: { team: 'a' },
    expiresIn: '15m',
  }
  const { token, id, expiresAt } = await mint(input)
  const jws = token.slice(4)
  assert.ok(token.startsWith('sbt_'))
  assert.equal(decodeProtectedHeader(jws), { alg: 'HS256', typ: 'sbt+jwt', kid: 'default' })
  const times = { iat: START_S, exp: START_S + 900 }
  assert.equal(decodeJwt(jws), {
    sub: 'alice',
    pln: 'pro',
    mdl: ['fast'],
    knd: ['llm'],
    org: ['https://app.example'],
    lim: { requests: { total: 1 } },
    md: { team: 'a' },
    iss: 'signalbox',
    aud: 'signalbox:/ai',
    jti: id,
    ...times,
  })
  assert.is(expiresAt, '2026-01-01T00:15:00.000Z')
  const { expiresIn, ...terms } = input
  const verified = await verify(token, { origin: 'https://app.example' })
  assert.equal(verified, {
    ...terms,
    id,
    ref: 'ref of alice',
    issuedAt: times.iat * 1_000,
    expiresAt: times.exp * 1_000,
  })
  assert.is(await verify(token, { origin: 'https://app.example' }), verified)
})

test('a token expires after 15 minutes by default, or after 30 seconds to a day if configured', async () => {
  const { mint } = tokenWorld()
  const lives: [NewToken['expiresIn'], number][] = [
    [undefined, 900],
    [30, 30],
    ['30s', 30],
    ['2h', 7_200],
    ['1d', 86_400],
    [86_400, 86_400],
  ]
  for (const [expiresIn, seconds] of lives) {
    const { expiresAt } = await mint({ account: 'a', ...(expiresIn !== undefined && { expiresIn }) })
    assert.is(Date.parse(expiresAt) / 1_000, START_S + seconds)
  }
})

test('invalid input is rejected with an error that explains the problem', async () => {
  const { mint } = tokenWorld({ publicOrigin: 'https://own.example', allowedOrigins: ['https://app.example'] })
  const rejected: [unknown, RegExp][] = [
    [undefined, /^Send an object with "account"/],
    [{}, /^"account" is required/],
    [{ account: 7 }, /^"account" must be a string/],
    [{ account: ' a' }, /^"account" must be an account's ID/],
    [{ account: 'x'.repeat(201) }, /^"account" must not be longer than 200 characters/],
    [{ account: 'a', plan: 'nobody' }, /^"plan" must be the ID or the name of a group; no group has "nobody"/],
    [{ account: 'a', models: [] }, /^"models" must not be empty/],
    [{ account: 'a', kinds: ['llms'] }, /^"kinds\[0\]" must be one of/],
    [{ account: 'a', origins: [] }, /^"origins" must not be empty/],
    [{ account: 'a', origins: ['https://app.example/'] }, /^"origins\[0\]" must be an origin/],
    [{ account: 'a', origins: ['https://evil.example'] }, /^"origins" must only contain the gateway's own origin/],
    [{ account: 'a', limits: {} }, /^"limits" must not be empty/],
    [{ account: 'a', metadata: { a: 1 } }, /^"metadata.a" must be a string/],
    [{ account: 'a', limit: {} }, /^Unknown field "limit". Did you mean "limits"/],
    ...[29, 86_401, 60.5, '29s', '25h', '2d', '1w', 'soon', '', true].map((expiresIn): [unknown, RegExp] => [
      { account: 'a', expiresIn },
      /^"expiresIn" must be 30 to 86400 seconds, or a text such as "15m" or "1h"/,
    ]),
  ]
  for (const [input, message] of rejected) {
    const error = await mint(input).then(
      () => undefined,
      (error) => error,
    )
    assert.is(error?.code, 'INVALID_REQUEST', JSON.stringify(input))
    assert.match(error.message, message)
  }
  await mint({ account: 'a', origins: ['https://own.example', 'https://app.example'] })
})

test("if the gateway's own origin is unknown, a token may contain one unlisted origin", async () => {
  const { mint } = tokenWorld({ allowedOrigins: ['https://app.example'] })
  await mint({ account: 'a', origins: ['https://app.example', 'https://own.example'] })
  assert.is(
    await getCode(mint({ account: 'a', origins: ['https://b.example', 'https://c.example'] })),
    'INVALID_REQUEST',
  )
})

test('a token has at most 1,800 characters', async () => {
  const { mint, verify } = tokenWorld()
  let length = 0
  for (let size = 0; size <= 200; size++) {
    const metadata = { a: 'x'.repeat(512), b: 'x'.repeat(512), c: 'x'.repeat(size) }
    const pending = mint({ account: 'a', metadata })
    const { token } = await pending.catch(() => ({ token: undefined }))
    if (token) {
      await verify(token)
      length = token.length
    } else assert.is(await getCode(pending), 'INVALID_REQUEST')
  }
  assert.ok(length > 1_790 && length <= 1_800, String(length))
})

test("a gateway without a secret can't mint or accept tokens", async () => {
  const { storage } = tokenWorld()
  const { ownSecret, ...bare } = storage
  const { mint, verify } = tokenWorld({ secret: undefined, storage: bare })
  const error = await mint({ account: 'a' }).then(
    () => undefined,
    (error) => error,
  )
  assert.match(error?.message, /Set the "secret" option of createGateway/)
  const { token } = await tokenWorld().mint({ account: 'a' })
  assert.is(await getCode(verify(token)), 'TOKEN_INVALID')
})

test("without a `secret` option, tokens are signed with the storage's secret, a string or a key", async () => {
  const material = crypto.getRandomValues(new Uint8Array(32))
  const ownKey = await crypto.subtle.importKey('raw', material, 'HKDF', false, ['deriveKey'])
  const { storage } = tokenWorld()
  for (const own of [storage, { ...storage, ownSecret: async () => ownKey }]) {
    const { mint } = tokenWorld({ secret: undefined, storage: own })
    const { token } = await mint({ account: 'a' })
    await tokenWorld({ secret: undefined, storage: own }).verify(token)
    assert.is(await getCode(tokenWorld().verify(token)), 'TOKEN_INVALID')
  }
})

test('a token with any byte changed is rejected', async () => {
  const { mint, verify } = tokenWorld()
  const { token } = await mint({ account: 'alice' })
  await verify(token)
  for (let index = 0; index < token.length; index++)
    for (const bit of [1, 2, 4, 8, 16, 32, 64, 128]) {
      const changed =
        token.slice(0, index) + String.fromCharCode(token.charCodeAt(index) ^ bit) + token.slice(index + 1)
      assert.is(await getCode(verify(changed)), 'TOKEN_INVALID', `${index} ${bit}`)
    }
  for (const other of [
    '',
    'sbt_',
    'sbt_..',
    `${token}A`,
    `${token} `,
    token.slice(0, -1),
    `${token}.${token}`,
    `sbt_${'a'.repeat(1e6)}`,
  ])
    assert.is(await getCode(verify(other)), 'TOKEN_INVALID', other.slice(0, 20))
})

test('tokens with other algorithms, types, secrets, issuers, or claims are rejected', async () => {
  const world = tokenWorld()
  await world.verify(await forge(world, claims()))
  const [payload] = [base64url(claims())]
  const unsigned = `sbt_${base64url({ alg: 'none', typ: 'sbt+jwt', kid: 'default' })}.${payload}.`
  const { privateKey } = await generateKeyPair('RS256')
  const rs256 = `sbt_${await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', typ: 'sbt+jwt', kid: 'default' }).sign(privateKey)}`
  const { iat, ...withoutIat } = claims()
  const { exp, ...withoutExp } = claims()
  const tokens = [
    unsigned,
    `${unsigned}${'A'.repeat(43)}`,
    rs256,
    await forge(world, claims(), { typ: 'JWT' }),
    await forge(world, claims(), { typ: undefined }),
    await forge(world, claims(), { kid: 'other' }),
    await forge(world, claims(), { kid: undefined }),
    await forge(world, claims(), { kid: '__proto__' }),
    await forge(world, claims({ iss: 'other' })),
    await forge(world, claims({ sub: undefined })),
    await forge(world, claims({ jti: undefined })),
    await forge(world, claims({ new: 'restriction' })),
    await forge(world, claims({ iat: 'now' })),
    await forge(world, withoutIat),
    await forge(world, withoutExp),
    await forge(world, [claims()]),
  ]
  for (const [index, token] of tokens.entries())
    assert.is(await getCode(world.verify(token)), 'TOKEN_INVALID', String(index))
})

test('a token is only valid for its audience and with its secret', async () => {
  const { token } = await tokenWorld().mint({ account: 'alice' })
  for (const audience of ['signalbox:', 'signalbox:/ai/', 'signalbox:/AI', 'other'])
    assert.is(await getCode(tokenWorld({ audience }).verify(token)), 'TOKEN_INVALID', audience)
  assert.is(await getCode(tokenWorld({ secret: `${SECRET} of staging` }).verify(token)), 'TOKEN_INVALID')
})

test('a token with origins only works on pages from those origins', async () => {
  const { mint, verify } = tokenWorld({ allowedOrigins: ['https://app.example', 'https://b.example'] })
  const { token } = await mint({ account: 'alice', origins: ['https://app.example', 'https://b.example'] })
  const isAllowed = async (headers: Record<string, string>, method = 'POST') => {
    const code = await getCode(verify(token, headers, method))
    if (code !== undefined) assert.is(code, 'TOKEN_NOT_ALLOWED')
    return code === undefined
  }
  const sameOrigin = { 'sec-fetch-site': 'same-origin' }
  assert.ok(await isAllowed({ origin: 'https://app.example' }))
  assert.ok(await isAllowed({ origin: 'https://b.example', 'sec-fetch-site': 'cross-site' }))
  assert.ok(await isAllowed(sameOrigin, 'GET'))
  assert.not.ok(await isAllowed(sameOrigin))
  assert.not.ok(await isAllowed({}, 'GET'))
  assert.not.ok(await isAllowed({}))
  assert.not.ok(await isAllowed({ 'sec-fetch-site': 'same-site' }, 'GET'))
  assert.not.ok(await isAllowed({ origin: 'https://evil.example', ...sameOrigin }, 'GET'))
  assert.not.ok(await isAllowed({ origin: 'null' }))
  assert.not.ok(await isAllowed({ origin: 'https://app.example.evil' }))
  const { token: anywhere } = await mint({ account: 'alice' })
  await verify(anywhere)
})

test('a token is accepted up to 5 s after its expiry and 60 s before its issue time', async () => {
  const { mint, verify, clock } = tokenWorld()
  const { token } = await mint({ account: 'alice', expiresIn: 60 })
  const late = await mint({ account: 'alice', expiresIn: 3_600 })
  await verify(token)
  await clock.advance(64_999)
  await verify(token)
  await verify(late.token)
  await clock.advance(1)
  assert.is(await getCode(verify(token)), 'TOKEN_EXPIRED')
  const slow = tokenWorld()
  await verify(late.token)
  await clock.advance(10_000)
  const ahead = await mint({ account: 'alice', expiresIn: 3_600 })
  assert.is(await getCode(slow.verify(ahead.token)), 'TOKEN_INVALID')
  await slow.clock.advance(15_000)
  await slow.verify(ahead.token)
})

test('a token is rejected if the clock goes back an hour after the token was accepted', async () => {
  let behindMs = 0
  const { mint, verify } = tokenWorld({
    clock: { ...tokenWorld().clock, now: () => (START_S + 3_600) * 1_000 - behindMs },
  })
  const { token } = await mint({ account: 'alice' })
  await verify(token)
  behindMs = 3_600_000
  assert.is(await getCode(verify(token)), 'TOKEN_INVALID')
  behindMs = -3_600_000
  assert.is(await getCode(verify(token)), 'TOKEN_EXPIRED')
  behindMs = 0
  await verify(token)
})

test('after a rotation, the first secret signs tokens, and old tokens work until their secret is removed', async () => {
  const old = await tokenWorld().mint({ account: 'alice' })
  const rotated = [
    { version: 2, value: 'another secret of many characters' },
    { version: 'default', value: SECRET },
  ]
  const both = tokenWorld({ secret: rotated })
  const { token } = await both.mint({ account: 'alice' })
  assert.is(decodeProtectedHeader(token.slice(4)).kid, '2')
  await both.verify(old.token)
  await both.verify(token)
  const last = tokenWorld({ secret: rotated.slice(0, 1) })
  assert.is(await getCode(last.verify(old.token)), 'TOKEN_INVALID')
  await last.verify(token)
})

test("an old secret that is too short for signing isn't used to verify tokens", async () => {
  const short = tokenWorld({
    secret: [
      { version: 'first', value: SECRET },
      { version: 'short', value: 'guessable' },
    ],
  })
  const { version } = await short.keys.getSigningKey()
  assert.is(version, 'first')
  assert.is(await short.keys.find('short'), undefined)
})

test("token errors contain the token's id, but not the token or its claims", async () => {
  const world = tokenWorld({ allowedOrigins: ['https://app.example'] })
  const { token, id } = await world.mint({ account: 'alice@example.com', origins: ['https://app.example'] })
  const errors: unknown[] = []
  const collect = (promise: Promise<unknown>) => promise.catch((error: unknown) => void errors.push(error))
  await collect(world.verify(token))
  await world.clock.advance(1_000_000)
  await collect(world.verify(token))
  await collect(tokenWorld({ audience: 'other' }).verify(token))
  await collect(tokenWorld({ secret: `${SECRET} of staging` }).verify(token))
  assert.is(errors.length, 4)
  for (const error of errors) {
    const shown = inspect(error, { depth: null, showHidden: true })
    assert.not.match(shown, /alice|app\.example|eyJ/)
  }
  assert.equal((errors[0] as { data: object }).data, { token: id })
  assert.equal((errors[1] as { data: object }).data, { token: id })
})
