import { registerHooks } from 'node:module'
import { type AwsCredentialsOptions, awsCredentials } from '../../adapters/credentials/aws-credentials.ts'
import { azureCredentials } from '../../adapters/credentials/azure-credentials.ts'
import { googleCredentials } from '../../adapters/credentials/google-credentials.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('cloud credentials')

interface Call {
  url: string
  headers: Headers
}

function open(
  connections: GatewayOptions['connections'],
  respond: (call: Call) => Response | undefined = () => undefined,
) {
  const clock = fakeClock()
  const calls: Call[] = []
  const errors: unknown[] = []
  const options: GatewayOptions = {
    clock,
    ...(connections && { connections }),
    identify: (request) => ({ account: request.headers.get('x-user') ?? 'nobody' }),
    fetch: async (url: unknown, init?: RequestInit) => {
      const call = { url: String(url), headers: new Headers(init?.headers) }
      calls.push(call)
      return respond(call) ?? Response.json(chatResponse())
    },
    hooks: { onError: (error) => void errors.push(error) },
    logger: false,
  }
  const gateway = createGateway(options)
  const send = (model: string, user = 'alice') =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user': user },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  return { send, calls, clock, errors }
}

const HOUR = 60 * 60_000
const unauthorized = () => Response.json({ error: { message: 'no' } }, { status: 401 })

test('Vertex AI calls share a GoogleAuth token, and renew it a minute before it expires', async () => {
  let tokens = 0
  const apiKey = googleCredentials({
    auth: () => ({
      getClient: async () => ({
        getAccessToken: async () => ({ token: `ya29.token-${++tokens}` }),
        credentials: { expiry_date: clock.now() + HOUR },
      }),
    }),
  })
  const { send, calls, clock } = open({ vertex: { apiKey, providerSpecificData: { project: 'p1' } } })
  const getLastAuthorization = () => calls.at(-1)?.headers.get('authorization')
  assert.is((await send('vertex/meta/llama')).status, 200)
  await send('vertex/meta/llama', 'bob')
  assert.equal([tokens, getLastAuthorization()], [1, 'Bearer ya29.token-1'])
  assert.match(calls[0]?.url ?? '', /^https:\/\/aiplatform\.googleapis\.com\/v1\/projects\/p1\//)
  await clock.advance(HOUR - 61_000)
  await send('vertex/meta/llama')
  assert.is(tokens, 1)
  await clock.advance(2_000)
  await send('vertex/meta/llama')
  assert.equal([tokens, getLastAuthorization()], [2, 'Bearer ya29.token-2'])
})

test('a new cloud client is created if the provider rejects its token', async () => {
  let clients = 0
  const create = () => `token-of-client-${++clients}`
  const google = googleCredentials({
    auth: () => {
      const token = `ya29.${create()}`
      return { getClient: async () => ({ getAccessToken: async () => ({ token }), credentials: {} }) }
    },
  })
  const azure = azureCredentials({
    credential: () => {
      const token = `eyJh.${create()}.c`
      return { getToken: async () => ({ token, expiresOnTimestamp: Number.MAX_SAFE_INTEGER }) }
    },
  })
  for (const [model, connections] of [
    ['vertex/meta/llama', { vertex: { apiKey: google, providerSpecificData: { project: 'p1' } } }],
    ['azure/gpt-5.5', { azure: { apiKey: azure, providerSpecificData: { resource: 'r1' } } }],
  ] as const) {
    clients = 0
    const { send, calls, errors } = open(connections, ({ headers }) =>
      headers.get('authorization')?.includes('client-1') ? unauthorized() : undefined,
    )
    assert.equal([(await send(model)).status, (await send(model)).status], [200, 200])
    assert.equal([clients, calls.length, errors], [2, 3, []])
  }
})

test('Azure OpenAI calls send the token of an Azure credential as a bearer token', async () => {
  const requests: unknown[] = []
  const apiKey = azureCredentials({
    scope: 'https://ai.azure.com/.default',
    credential: () => ({
      getToken: async (scope, { abortSignal }) => {
        requests.push(scope, abortSignal.aborted)
        return { token: 'eyJhbGciOi.eyJhdWQi.c2ln', expiresOnTimestamp: clock.now() + HOUR }
      },
    }),
  })
  const { send, calls, clock } = open({ azure: { apiKey, providerSpecificData: { resource: 'r1' } } })
  assert.is((await send('azure/gpt-5.5')).status, 200)
  assert.equal(requests, ['https://ai.azure.com/.default', false])
  assert.is(calls[0]?.headers.get('authorization'), 'Bearer eyJhbGciOi.eyJhdWQi.c2ln')
  assert.is(calls[0]?.headers.get('api-key'), null)
})

test("Bedrock calls are signed with an AWS provider's keys, which are refreshed on expiry or rejection", async () => {
  const forced: Array<boolean | undefined> = []
  let rejectsAll = false
  const provider: NonNullable<AwsCredentialsOptions['provider']> = async (options) => ({
    accessKeyId: `ASIAIOSFODNN7EXAMPL${forced.push(options?.forceRefresh)}`,
    secretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
    sessionToken: 'FwoGZXIvYXdzEBYaDsession',
    expiration: new Date(clock.now() + HOUR),
  })
  const { send, calls, clock } = open(
    { bedrock: { apiKey: awsCredentials({ provider }), providerSpecificData: { region: 'eu-central-1' } } },
    ({ headers }) => {
      if (!rejectsAll || headers.get('authorization')?.includes('EXAMPL3')) return Response.json(CONVERSE)
      return Response.json({ message: 'The security token is expired' }, { status: 403 })
    },
  )
  const readKey = () =>
    /Credential=(\w+)\/\d+\/eu-central-1\/bedrock\//.exec(calls.at(-1)?.headers.get('authorization') ?? '')?.[1]
  assert.is((await send('bedrock/amazon.nova')).status, 200)
  assert.is(readKey(), 'ASIAIOSFODNN7EXAMPL1')
  assert.is(calls[0]?.headers.get('x-amz-security-token'), 'FwoGZXIvYXdzEBYaDsession')
  await clock.advance(HOUR - 59_000)
  await send('bedrock/amazon.nova')
  assert.is(readKey(), 'ASIAIOSFODNN7EXAMPL2')
  rejectsAll = true
  assert.is((await send('bedrock/amazon.nova')).status, 200)
  assert.is(readKey(), 'ASIAIOSFODNN7EXAMPL3')
  assert.equal(forced, [false, true, true])
})

const CONVERSE = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
}

test('a connection is skipped if its cloud vendor has no credential', async () => {
  const apiKey = azureCredentials({ credential: () => ({ getToken: async () => null }) })
  const { send, calls, errors } = open({ azure: { apiKey, providerSpecificData: { resource: 'r1' } } })
  const response = await send('azure/gpt-5.5')
  assert.equal([response.status, calls.length, errors.length], [502, 0, 0])
  assert.match(await response.text(), /returned nothing/)
})

const PACKAGES = {
  'google-auth-library': [
    { vertex: { apiKey: googleCredentials(), providerSpecificData: { project: 'p1' } } },
    'vertex/meta/llama',
  ],
  '@aws-sdk/credential-providers': [
    { bedrock: { apiKey: awsCredentials(), providerSpecificData: { region: 'us-east-1' } } },
    'bedrock/nova',
  ],
  '@azure/identity': [
    { azure: { apiKey: azureCredentials(), providerSpecificData: { resource: 'r1' } } },
    'azure/gpt-5.5',
  ],
} as const

for (const [name, [connections, model]] of Object.entries(PACKAGES))
  test(`a missing "${name}" is reported, and the next request tries to load it again`, async () => {
    let loads = 0
    const hooks = registerHooks({
      resolve(specifier, context, next) {
        if (specifier === name && context.parentURL?.includes('/adapters/credentials/')) {
          loads++
          throw new Error(`Cannot find package '${name}'`)
        }
        return next(specifier, context)
      },
    })
    try {
      const { send, calls, errors } = open(connections)
      const texts = [await (await send(model)).text(), await (await send(model)).text()]
      for (const text of texts) {
        assert.match(text, /credential function of the connection .* failed/)
        assert.not(text.includes(name))
      }
      assert.equal([loads, calls.length], [2, 0])
      const { message, cause } = errors[0] as Error
      assert.match(message, /failed with PACKAGE_NOT_FOUND/)
      assert.is((cause as Error).message, `The package "${name}" could not be loaded. Install it: npm install ${name}`)
    } finally {
      hooks.deregister()
    }
  })

/** Stand-ins for the vendors' packages that fail as they do after a login has expired. */
const EXPIRED = {
  '@aws-sdk/credential-providers': `export const fromNodeProviderChain = () => async () => { throw new Error('expired: badger-mandolin') }`,
  'google-auth-library': `export class GoogleAuth { async getClient() { throw Object.freeze(new Error('expired: badger-mandolin')) } }`,
  '@azure/identity': `export class DefaultAzureCredential { async getToken() { throw new Error('expired: badger-mandolin') } }`,
} as const

const LOGINS = {
  '@aws-sdk/credential-providers': 'aws sso login',
  'google-auth-library': 'gcloud auth application-default login',
  '@azure/identity': 'az login',
} as const

for (const [name, [connections, model]] of Object.entries(PACKAGES))
  test(`the log explains how to log in again if "${name}" fails, without showing the error`, async () => {
    const known = name as keyof typeof EXPIRED
    const hooks = registerHooks({
      resolve(specifier, context, next) {
        if (specifier !== name || !context.parentURL?.includes('/adapters/credentials/'))
          return next(specifier, context)
        return { url: `data:text/javascript,${encodeURIComponent(EXPIRED[known])}`, shortCircuit: true }
      },
    })
    const lines: string[] = []
    try {
      const { fetch } = createGateway({
        connections,
        logger: { warn: (line) => void lines.push(line), error: (line) => void lines.push(String(line)) },
      })
      const response = await fetch('http://gateway/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
      })
      const shown = await response.text()
      assert.is(response.status, 502)
      assert.not.match(shown, / login|badger-mandolin/)
      assert.match(lines.join('\n'), LOGINS[known])
      assert.not.match(lines.join('\n'), 'badger-mandolin')
    } finally {
      hooks.deregister()
    }
  })

test("a failing package that the app provides doesn't cause login advice", async () => {
  const provider = () => Promise.reject(new Error('expired'))
  const { send, errors } = open({
    bedrock: { apiKey: awsCredentials({ provider }), providerSpecificData: { region: 'us-east-1' } },
  })
  assert.is((await send('bedrock/anthropic.claude-opus-5')).status, 502)
  const { message, cause } = errors[0] as Error
  assert.is(message, 'The credential function of "bedrock" failed. The hook "onError" gets the cause.')
  assert.is((cause as Error).message, 'expired')
})

test('unknown credential options are rejected', () => {
  assert.throws(() => googleCredentials({ scope: 'x' } as never), /scope is not an option\. Known: scopes, auth\./)
  assert.throws(() => awsCredentials({ region: 'x' } as never), /region is not an option\. Known: profile, provider\./)
  assert.throws(
    () => azureCredentials({ scopes: 'x' } as never),
    /scopes is not an option\. Known: scope, clientId, credential\./,
  )
})
