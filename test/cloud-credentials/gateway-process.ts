import { registerHooks } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { awsCredentials } from '../../adapters/credentials/aws-credentials.ts'
import { azureCredentials } from '../../adapters/credentials/azure-credentials.ts'
import { googleCredentials } from '../../adapters/credentials/google-credentials.ts'
import { createGateway } from '../../src/gateway.ts'
import { signV4 } from '../support/sigv4.ts'
import { awsKeys } from './cloud-endpoints.ts'

/*
 * A gateway in its own process, because the packages read the environment and cache credentials process-wide: `gateway-process.ts google|aws|azure
 * [options as JSON]`. It prints an `Outcome` as JSON.
 */

/**
 * The results of the process. A credential is represented by its last character, which is its number. AWS keys count only if the signature is
 * correct.
 */
export interface Outcome {
  /** The credentials of twenty concurrent requests, without duplicates. */
  first: string[]
  /** The credential of a request that is sent shortly before the first credential expires. */
  renewed: string[]
  /** The credentials of a request whose first call the provider rejects. */
  rejected: string[]
  statuses: number[]
  /** The messages of failed responses, without duplicates. */
  failures: string[]
  /** The errors passed to `onError`, with their causes, without duplicates. */
  errors: string[]
}

registerHooks({
  resolve: (specifier, context, next) =>
    context.parentURL?.includes('/adapters/credentials/')
      ? next(specifier, specifier.startsWith('.') ? context : { ...context, parentURL: import.meta.url })
      : next(specifier, context),
})

const ANSWERS = {
  google: { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] },
  aws: {
    output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  },
}

const [cloud, input = '{}'] = process.argv.slice(2)
const options = JSON.parse(input)
const [model, connections] =
  cloud === 'google'
    ? ([
        'vertex/meta/llama',
        { vertex: { apiKey: googleCredentials(options), providerSpecificData: { project: 'p1' } } },
      ] as const)
    : cloud === 'aws'
      ? ([
          'bedrock/amazon.nova',
          { bedrock: { apiKey: awsCredentials(options), providerSpecificData: { region: 'eu-central-1' } } },
        ] as const)
      : ([
          'azure/gpt',
          { azure: { apiKey: azureCredentials(options), providerSpecificData: { resource: 'r1' } } },
        ] as const)

const failures = new Set<string>()
const errors = new Set<string>()
let seen: string[] = []
let rejects = false
const gateway = createGateway({
  connections,
  identify: () => ({ account: 'a' }),
  logger: false,
  hooks: {
    onError: (error) => {
      for (let one: unknown = error; one !== undefined; one = one instanceof Error ? one.cause : undefined)
        errors.add(String(one))
    },
  },
  fetch: async (url: unknown, init?: RequestInit) => {
    const request = new Request(String(url), init)
    const authorization = request.headers.get('authorization') ?? ''
    const nth = /(?:Bearer \S+|Credential=\w+)(\d)\b/.exec(authorization)?.[1]
    const isValid = nth !== undefined && (cloud !== 'aws' || (await isSigned(request, Number(nth))))
    seen.push(isValid ? nth : `invalid: ${authorization}`)
    if (!rejects) return Response.json(cloud === 'aws' ? ANSWERS.aws : ANSWERS.google)
    rejects = false
    return Response.json({ message: 'no' }, { status: cloud === 'aws' ? 403 : 401 })
  },
})

/** Returns whether the request was signed with the nth key pair that AWS issued. */
async function isSigned(request: Request, index: number): Promise<boolean> {
  const { method, url, headers } = request
  const { host, pathname, search } = new URL(url)
  const { id, secret, token } = awsKeys(index)
  const date = headers.get('x-amz-date') ?? ''
  const expected = signV4(
    { method, host, pathname, search, headers: { 'content-type': 'application/json' }, body: await request.text() },
    {
      accessKeyId: id,
      secretAccessKey: secret,
      sessionToken: token,
      region: 'eu-central-1',
      service: 'bedrock',
      now: Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)/, '$1-$2-$3:$4:')),
    },
  )
  return Object.entries(expected).every(([name, value]) => headers.get(name) === value)
}

async function send(): Promise<number> {
  const response = await gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const { error } = await response.json()
  if (!response.ok) failures.add(error.message)
  return response.status
}

const statuses: number[] = []
const take = () => {
  const taken = [...new Set(seen)]
  seen = []
  return taken
}

statuses.push(...(await Promise.all(Array.from({ length: 20 }, send))))
const first = take()
await sleep(1_300)
statuses.push(await send())
const renewed = take()
rejects = true
statuses.push(await send())
const outcome: Outcome = {
  first,
  renewed,
  rejected: take(),
  statuses: [...new Set(statuses)],
  failures: [...failures],
  errors: [...errors],
}
console.log(JSON.stringify(outcome))
process.exit(0)
