import { fromBase64, toBase64 } from '../../../src/lib/bytes.ts'
import { parseServiceAccount, type ServiceAccount } from '../../../src/request/upstream/clouds/cloud-rules.ts'
import { createGoogleTokens } from '../../../src/request/upstream/clouds/google-tokens.ts'
import { fakeUpstream, json, type Respond } from '../../pipeline/support/upstream.ts'
import { fakeClock } from '../../support/clock.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('Google service account tokens')

const RS256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
const { privateKey, publicKey } = await crypto.subtle.generateKey(
  { ...RS256, modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) },
  true,
  ['sign', 'verify'],
)
const lines = toBase64(new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey))).replace(/.{64}/g, '$&\n')
const account: ServiceAccount = {
  email: 'me@mine.iam.gserviceaccount.com',
  privateKey: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
  keyId: 'key-1',
}

function open(respond: Respond = (_, index) => json({ access_token: `ya29.${index}`, expires_in: 3_600 })) {
  const upstream = fakeUpstream(respond)
  const clock = fakeClock()
  const tokens = createGoogleTokens(clock)
  return { upstream, clock, token: (of = account) => tokens(of, upstream) }
}

const decode = (part = '') => new TextDecoder().decode(getBytes(part))
const getBytes = (part: string) => fromBase64(part.replaceAll('-', '+').replaceAll('_', '/'))

test("service account tokens are requested with an assertion signed by the account's key", async () => {
  const { upstream, clock, token } = open()
  assert.is(await token(), 'ya29.1')
  const [call] = upstream.calls
  assert.is(call?.url.href, 'https://oauth2.googleapis.com/token')
  assert.is(call?.headers.get('content-type'), 'application/x-www-form-urlencoded')
  const body = new URLSearchParams(call?.body)
  assert.is(body.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
  const [header, claims, signature = ''] = body.get('assertion')?.split('.') ?? []
  assert.equal(JSON.parse(decode(header)), { alg: 'RS256', typ: 'JWT', kid: 'key-1' })
  const now = clock.now() / 1_000
  assert.equal(JSON.parse(decode(claims)), {
    iss: account.email,
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: 'https://oauth2.googleapis.com/token',
    iat: now,
    exp: now + 3_600,
  })
  const text = new TextEncoder().encode(`${header}.${claims}`)
  assert.ok(await crypto.subtle.verify(RS256.name, publicKey, getBytes(signature), text))
})

test('service account tokens are requested once, and cached until a minute before they expire', async () => {
  const { upstream, clock, token } = open()
  assert.equal(await Promise.all([token(), token(), token()]), ['ya29.1', 'ya29.1', 'ya29.1'])
  await clock.advance(3_539_000)
  assert.is(await token(), 'ya29.1')
  await clock.advance(1_000)
  assert.is(await token(), 'ya29.2')
  assert.is(await token({ ...account, privateKey: account.privateKey.trim() }), 'ya29.3')
  assert.is(upstream.calls.length, 3)
})

/** Google's responses, and the errors they cause. */
const refusals: [answer: Response, code: string, message: string][] = [
  [
    json({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 400),
    'UPSTREAM_CREDENTIALS',
    'Google did not issue a token for the service account (invalid_grant).',
  ],
  [json('no', 403), 'UPSTREAM_CREDENTIALS', 'Google did not issue a token for the service account (403).'],
  [
    json({ access_token: 'a\nb' }),
    'UPSTREAM_CREDENTIALS',
    'Google did not issue a token for the service account (200).',
  ],
  [json({}, 503), 'UPSTREAM_FAILED', 'Google did not issue a token for the service account (status 503).'],
]

for (const [response, code, message] of refusals) {
  test(`a token failure is reported: ${message} ${code}`, async () => {
    const { token } = open((_, index) => (index === 1 ? response : json({ access_token: 'later', expires_in: 3_600 })))
    const error = await token().catch((error) => error)
    assert.equal([error.code, error.message], [code, message])
    assert.is(await token(), 'later')
  })
}

test('the request for a service account token has a timeout', async () => {
  const { clock, token } = open(() => new Promise(() => {}))
  const reason = token().catch((error) => error)
  await clock.untilPending()
  await clock.advance(10_000)
  assert.is((await reason).code, 'UPSTREAM_TIMEOUT')
})

test("a private key that can't be parsed is reported", async () => {
  const { upstream, token } = open()
  const PEM = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'
  const error = await token({ ...account, privateKey: PEM }).catch((error) => error)
  assert.equal(
    [error.code, error.message],
    [
      'UPSTREAM_CREDENTIALS',
      'The service account\'s private key cannot be read. Set "apiKey" to the complete key file.',
    ],
  )
  assert.is(upstream.calls.length, 0)
})

test('only a key file is parsed as a service account', () => {
  const file = {
    type: 'service_account',
    project_id: 'mine',
    private_key_id: 'key-1',
    private_key: account.privateKey,
    client_email: account.email,
    token_uri: 'https://evil.test/token',
  }
  assert.equal(parseServiceAccount(JSON.stringify(file, null, 2)), { ...account, project: 'mine' })
  assert.equal(parseServiceAccount(JSON.stringify({ ...file, project_id: 'a/../b', private_key_id: 1 })), {
    email: account.email,
    privateKey: account.privateKey,
  })
  for (const text of ['ya29.token', '{}', '[]', JSON.stringify({ ...file, private_key: 'x' })])
    assert.is(parseServiceAccount(text), undefined)
})
