import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request to an endpoint. */
export interface Received {
  path: string
  headers: IncomingMessage['headers']
  /** Query and form parameters. */
  fields: Record<string, string>
}

interface Reply {
  status?: number
  headers?: Record<string, string>
  body: string
}

/** Writes an endpoint's response. `nth` is the number of credentials issued so far, including this one. `seconds` is the credential's lifetime. */
type Endpoint = (received: Received, issued: { nth: number; seconds: number }) => Reply

const json = (body: object): Reply => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const expiresAt = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString().replace(/\.\d+/, '')

/** Returns the nth key pair that AWS issues. */
export const awsKeys = (index: number) => ({
  id: `ASIAIOSFODNN7EXAMPL${index}`,
  secret: `wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKE${index}`,
  token: `FwoGZXIvYXdzEBYaDsession${index}`,
})

const assumedRole =
  (action: string): Endpoint =>
  (_, { nth, seconds }) => {
    const { id, secret, token } = awsKeys(nth)
    const keys = `<Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${expiresAt(seconds)}</Expiration></Credentials>`
    const user =
      '<AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/gateway/s</Arn><AssumedRoleId>AROA:s</AssumedRoleId></AssumedRoleUser>'
    const result = `<${action}Result>${keys}${user}</${action}Result>`
    return {
      headers: { 'content-type': 'text/xml' },
      body: `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></${action}Response>`,
    }
  }

const awsKeysInJson: Endpoint = (_, { nth, seconds }) => {
  const { id, secret, token } = awsKeys(nth)
  const Expiration = expiresAt(seconds)
  return json({ Code: 'Success', Type: 'AWS-HMAC', AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration })
}

const ssoRoleKeys: Endpoint = (_, { nth, seconds }) => {
  const { id, secret, token } = awsKeys(nth)
  const expiration = Date.now() + seconds * 1_000
  return json({ roleCredentials: { accessKeyId: id, secretAccessKey: secret, sessionToken: token, expiration } })
}

const entraToken: Endpoint = ({ fields }, { nth, seconds }) =>
  json({
    access_token: `eyJhbGciOiJub25lIn0.eyJzIjoiMSJ9.c2lnbmF0dXJl${nth}`,
    expires_on: `${Math.floor(Date.now() / 1_000) + seconds}`,
    expires_in: `${seconds}`,
    resource: fields.resource ?? '',
    token_type: 'Bearer',
  })

const METADATA_SERVER = { 'metadata-flavor': 'Google', 'content-type': 'application/json' }
const ACCOUNT = '/computeMetadata/v1/instance/service-accounts/default/token'

/** The endpoints that issue credentials, by method and path, or by method and the form's `Action`. */
const ISSUERS: Readonly<Record<string, Endpoint>> = {
  [`GET ${ACCOUNT}`]: ({ headers }, { nth, seconds }) =>
    headers['metadata-flavor'] === 'Google'
      ? {
          headers: METADATA_SERVER,
          body: JSON.stringify({ access_token: `ya29.token-${nth}`, expires_in: seconds, token_type: 'Bearer' }),
        }
      : { status: 403, body: '' },
  'POST /v1/token': (_, { nth, seconds }) =>
    json({
      access_token: `ya29.token-${nth}`,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: seconds,
    }),
  'GET /container': awsKeysInJson,
  'GET /latest/meta-data/iam/security-credentials/gateway': awsKeysInJson,
  'GET /federation/credentials': ssoRoleKeys,
  'POST AssumeRole': assumedRole('AssumeRole'),
  'POST AssumeRoleWithWebIdentity': assumedRole('AssumeRoleWithWebIdentity'),
  'GET /msi/token': entraToken,
  'GET /metadata/identity/oauth2/token/': entraToken,
}

/** The endpoints that the vendors' packages call first. Below `/revoked`, AWS rejects the refresh token of an SSO session. */
const OTHERS: Readonly<Record<string, Reply>> = {
  'GET /computeMetadata/v1/instance': { headers: METADATA_SERVER, body: '{}' },
  'PUT /latest/api/token': { headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }, body: 'the-session-token' },
  'GET /latest/meta-data/iam/security-credentials/': { body: 'gateway' },
  'POST /token': json({
    accessToken: 'the-renewed-sso-token',
    expiresIn: 28_800,
    refreshToken: 'the-next-refresh-token',
    tokenType: 'Bearer',
  }),
  'POST /revoked/token': {
    ...json({ error: 'invalid_grant', error_description: 'Invalid refresh token provided' }),
    status: 400,
  },
}

/**
 * Starts the endpoints from which the packages of Google, AWS, and Azure get credentials. The first credential expires after 61 s, so the gateway
 * renews it after 1 s. Later credentials last an hour.
 */
export async function startEndpoints(): Promise<{ url: string; received: Received[]; close(): Promise<void> }> {
  const received: Received[] = []
  let issued = 0
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const body = (await request.toArray()).join('')
    const fields = Object.fromEntries([...searchParams, ...new URLSearchParams(body)])
    const one = { path: pathname, headers: request.headers, fields }
    const name = `${request.method} ${fields.Action ?? pathname}`
    const issue = ISSUERS[name]
    const reply = issue
      ? issue(one, { nth: ++issued, seconds: issued === 1 ? 61 : 3_600 })
      : (OTHERS[name] ?? { status: 404, body: 'not found' })
    if (issue) received.push(one)
    response.writeHead(reply.status ?? 200, reply.headers)
    response.end(reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
