import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { assert, suite } from '../support/suite.ts'
import { startEndpoints } from './cloud-endpoints.ts'
import type { Outcome } from './gateway-process.ts'

const test = suite("credentials from the cloud vendors' packages", { folder: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'cloud-credentials-'))
})
test.after(async ({ folder }) => {
  if (folder) await rm(folder, { recursive: true })
})

/** Runs the gateway process with only one cloud's environment variables. */
async function run(cloud: 'google' | 'aws' | 'azure', env: Record<string, string>, home: string, options = {}) {
  const script = join(import.meta.dirname, 'gateway-process.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script, cloud, JSON.stringify(options)], {
    env: { PATH: process.env.PATH ?? '', HOME: home, ...env },
  })
  const outcome: Outcome = JSON.parse(stdout)
  return outcome
}

/** Checks that each credential is renewed before it expires, and after it is rejected. */
function assertRenewed(outcome: Outcome): void {
  assert.equal(outcome, {
    first: ['1'],
    renewed: ['2'],
    rejected: ['2', '3'],
    statuses: [200],
    failures: [],
    errors: [],
  })
}

async function withEndpoints(body: (endpoints: Awaited<ReturnType<typeof startEndpoints>>) => Promise<void>) {
  const endpoints = await startEndpoints()
  try {
    await body(endpoints)
  } finally {
    await endpoints.close()
  }
}

test('Google: gets tokens from the metadata server, and renews them', async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    assertRenewed(await run('google', { GCE_METADATA_HOST: new URL(url).host }, folder))
    assert.equal(
      received.map(({ fields }) => fields.scopes),
      Array.from({ length: 3 }, () => 'https://www.googleapis.com/auth/cloud-platform'),
    )
  })
})

test('Google: exchanges a workload identity token, and renews the result', async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    const tokenFile = join(folder, 'oidc-token')
    const configFile = join(folder, 'federation.json')
    await writeFile(tokenFile, 'the-token-of-the-workload')
    await writeFile(
      configFile,
      JSON.stringify({
        type: 'external_account',
        audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${url}/v1/token`,
        credential_source: { file: tokenFile },
      }),
    )
    assertRenewed(await run('google', { GOOGLE_APPLICATION_CREDENTIALS: configFile }, folder, { scopes: ['a', 'b'] }))
    assert.is(received.length, 3)
    assert.is(received[0]?.fields.subject_token, 'the-token-of-the-workload')
    assert.is(received[0]?.fields.scope, 'a b')
  })
})

test('AWS: gets the keys of a container role, and refreshes them', async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    const env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'the-token',
    }
    assertRenewed(await run('aws', env, folder))
    assert.equal(
      received.map(({ headers }) => headers.authorization),
      ['the-token', 'the-token', 'the-token'],
    )
  })
})

test("AWS: gets an instance role's keys with an IMDS session token, and refreshes them", async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    assertRenewed(await run('aws', { AWS_EC2_METADATA_SERVICE_ENDPOINT: url }, folder))
    assert.is(received[0]?.headers['x-aws-ec2-metadata-token'], 'the-session-token')
  })
})

test('AWS: assumes a role with a web identity, and assumes it again when the keys expire', async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    const tokenFile = join(folder, 'web-identity')
    await writeFile(tokenFile, 'the-token-of-the-pod')
    const env = {
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/gateway',
      AWS_ENDPOINT_URL_STS: url,
    }
    assertRenewed(await run('aws', env, folder))
    assert.equal(
      received.map(({ fields }) => fields.WebIdentityToken),
      Array.from({ length: 3 }, () => 'the-token-of-the-pod'),
    )
  })
})

test('AWS: assumes the role in a profile', async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    const config = join(folder, 'aws-config')
    const profiles = [
      '[profile base]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      '[profile gateway]\nrole_arn = arn:aws:iam::123456789012:role/gateway\nsource_profile = base\nregion = eu-central-1',
    ]
    await writeFile(config, `${profiles.join('\n')}\n`)
    const env = { AWS_CONFIG_FILE: config, AWS_ENDPOINT_URL_STS: url }
    assertRenewed(await run('aws', env, folder, { profile: 'gateway' }))
    assert.match(received[0]?.headers.authorization ?? '', /Credential=AKIAIOSFODNN7EXAMPLE\//)
  })
})

/** Writes a profile with an SSO login, and the token that `aws sso login` would store. The SDK finds the token by the hash of `login`. */
async function writeSsoProfile(folder: string, login: string, profile: readonly string[], token: object) {
  const cache = join(folder, '.aws/sso/cache')
  await mkdir(cache, { recursive: true })
  await writeFile(join(cache, `${createHash('sha1').update(login).digest('hex')}.json`), JSON.stringify(token))
  const config = join(folder, 'sso-config')
  const role = ['[profile gateway]', 'sso_account_id = 123456789012', 'sso_role_name = Gateway']
  await writeFile(config, `${[...role, ...profile].join('\n')}\n`)
  return { AWS_CONFIG_FILE: config, AWS_EC2_METADATA_DISABLED: 'true' }
}

const START_URL = 'https://acme.awsapps.com/start'
const SSO_LOGIN = [`sso_start_url = ${START_URL}`, 'sso_region = eu-central-1']
const SSO_SESSION = ['sso_session = acme', '[sso-session acme]', ...SSO_LOGIN]
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
const expiredToken = () => ({
  accessToken: 'the-expired-sso-token',
  expiresAt: inMinutes(-1),
  clientId: 'the-client',
  clientSecret: 'the-client-secret',
  refreshToken: 'the-refresh-token',
})

test("AWS: gets an SSO role's keys with a stored token, and refreshes them", async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    const services = ['services = local', '[services local]', 'sso =', `  endpoint_url = ${url}`]
    const token = { accessToken: 'the-sso-token', expiresAt: inMinutes(60) }
    const env = await writeSsoProfile(folder, START_URL, [...SSO_LOGIN, ...services], token)
    assertRenewed(await run('aws', { ...env, AWS_PROFILE: 'gateway' }, folder))
    assert.equal(
      received.map(({ headers, fields }) => ({ token: headers['x-amz-sso_bearer_token'], ...fields })),
      Array.from({ length: 3 }, () => ({ token: 'the-sso-token', account_id: '123456789012', role_name: 'Gateway' })),
    )
  })
})

test('AWS: renews the expired token of an SSO session, and gets keys with the new token', async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    const env = await writeSsoProfile(folder, 'acme', SSO_SESSION, expiredToken())
    const endpoints = { AWS_ENDPOINT_URL_SSO: url, AWS_ENDPOINT_URL_SSO_OIDC: url }
    assertRenewed(await run('aws', { ...env, ...endpoints }, folder, { profile: 'gateway' }))
    assert.equal(
      received.map(({ headers }) => headers['x-amz-sso_bearer_token']),
      Array.from({ length: 3 }, () => 'the-renewed-sso-token'),
    )
  })
})

for (const [login, id, profile] of [
  ['a session that AWS no longer renews', 'acme', SSO_SESSION],
  ['a profile without a session', START_URL, SSO_LOGIN],
] as const)
  test(`AWS: an expired SSO token of ${login} fails the target, and onError says to log in`, async ({ folder }) => {
    await withEndpoints(async ({ url, received }) => {
      const token = expiredToken()
      const env = await writeSsoProfile(folder, id, profile, token)
      const endpoints = { AWS_ENDPOINT_URL_SSO: url, AWS_ENDPOINT_URL_SSO_OIDC: `${url}/revoked` }
      const outcome = await run('aws', { ...env, ...endpoints }, folder, { profile: 'gateway' })
      assert.equal([outcome.first, outcome.renewed, outcome.rejected, received], [[], [], [], []])
      assert.equal(outcome.statuses, [502])
      assert.equal(outcome.failures, ['The credential function of the connection "bedrock" failed.'])
      const [error, cause = '', ...others] = outcome.errors
      assert.match(
        error ?? '',
        /^Error: The credential function of "bedrock" failed\. .* sign in: aws sso login\. The hook "onError" gets/,
      )
      assert.match(cause, /expired\. To refresh this SSO session run '?aws sso login'? with the corresponding profile/)
      assert.equal(others, [])
      const shown = JSON.stringify(outcome)
      for (const secret of [token.accessToken, token.clientSecret, token.refreshToken])
        assert.not(shown.includes(secret), secret)
    })
  })

/** Checks that Azure's package caches a managed identity's token process-wide until shortly before it expires. */
function assertKept({ failures, ...outcome }: Outcome): void {
  assert.equal(outcome, { first: ['1'], renewed: ['2'], rejected: ['2'], statuses: [200, 502], errors: [] })
  assert.is(failures.length, 1)
  assert.match(failures[0] ?? '', "rejected the connection's credentials (status 401)")
}

test("Azure: gets and renews an app service's managed identity tokens", async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    assertKept(await run('azure', { IDENTITY_ENDPOINT: `${url}/msi/token`, IDENTITY_HEADER: 'the-header' }, folder))
    assert.is(received[0]?.headers['x-identity-header'], 'the-header')
    assert.is(received[0]?.fields.resource, 'https://cognitiveservices.azure.com')
  })
})

test("Azure: gets a virtual machine's managed identity tokens by client ID", async ({ folder }) => {
  await withEndpoints(async ({ url, received }) => {
    const options = { clientId: '11111111-2222-3333-4444-555555555555', scope: 'https://ai.azure.com/.default' }
    assertKept(await run('azure', { AZURE_POD_IDENTITY_AUTHORITY_HOST: url }, folder, options))
    const { headers, fields } = received[0] ?? {}
    assert.is(headers?.metadata, 'true')
    assert.equal([fields?.client_id, fields?.resource], [options.clientId, 'https://ai.azure.com'])
  })
})

const CONSUMER = `import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers'
import { ClientSecretCredential, DefaultAzureCredential, ManagedIdentityCredential } from '@azure/identity'
import { GoogleAuth } from 'google-auth-library'
import { awsCredentials } from 'ADAPTERS/aws-credentials.ts'
import { azureCredentials } from 'ADAPTERS/azure-credentials.ts'
import { googleCredentials } from 'ADAPTERS/google-credentials.ts'

export const sources = [
  awsCredentials({ provider: fromNodeProviderChain() }),
  awsCredentials({ provider: fromTemporaryCredentials({ params: { RoleArn: 'arn:aws:iam::1:role/r' } }) }),
  azureCredentials({ credential: () => new ClientSecretCredential('t', 'c', 's') }),
  azureCredentials({ credential: () => new DefaultAzureCredential() }),
  azureCredentials({ credential: () => new ManagedIdentityCredential() }),
  googleCredentials({ auth: () => new GoogleAuth({ keyFile: 'key.json' }) }),
]
`

test("credential options accept objects from the cloud vendors' packages", async () => {
  const root = join(import.meta.dirname, '../..')
  const location = join(import.meta.dirname, `node_modules/.cache/types-${process.pid}`)
  await mkdir(location, { recursive: true })
  try {
    await writeFile(join(location, 'consumer.ts'), CONSUMER.replaceAll('ADAPTERS', join(root, 'adapters/credentials')))
    await writeFile(
      join(location, 'tsconfig.json'),
      JSON.stringify({
        extends: join(root, 'tsconfig.test.json'),
        compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
        include: ['consumer.ts'],
        exclude: [],
      }),
    )
    const args = [join(root, 'node_modules/tsc7/bin/tsc'), '--noEmit', '--pretty', 'false', '-p', location]
    const { stdout } = await promisify(execFile)(process.execPath, args).catch((failed: { stdout: string }) => failed)
    assert.is(stdout, '')
  } finally {
    await rm(location, { recursive: true })
  }
})
