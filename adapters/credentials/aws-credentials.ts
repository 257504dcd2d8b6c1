import type { SharedCredentialSource } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { keepUntilRejected } from './lib/keep-until-rejected.ts'
import { loadPackage } from './lib/load-package.ts'

/** An AWS SDK credential provider. The unused `callerClientConfig` makes the SDK's own types assignable. */
export type AwsCredentialProvider = (options?: { forceRefresh?: boolean; callerClientConfig?: never }) => Promise<{
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
  expiration?: Date | undefined
}>

/** Options for `awsCredentials`; all are optional. */
export interface AwsCredentialsOptions {
  /** A profile in the shared config files. Default: `AWS_PROFILE`, or else `default`. */
  profile?: string
  /** The provider to use instead of the default chain, such as `fromTemporaryCredentials(…)`. */
  provider?: AwsCredentialProvider
}

const ADVICE =
  'Check that the environment variables, the profile, or the role still work. If the profile uses SSO, sign in: aws sso login.'

interface CredentialProviders {
  fromNodeProviderChain(init: { profile?: string; ignoreCache: boolean }): AwsCredentialProvider
}

/**
 * Returns access keys for Bedrock from the AWS SDK's default chain: environment variables, shared config files with SSO and assumed roles, web
 * identity, and container and instance roles. All requests share them. Needs the package `@aws-sdk/credential-providers`, unless you set `provider`.
 * Throws a TypeError for invalid options.
 */
export function awsCredentials(options: AwsCredentialsOptions = {}): SharedCredentialSource {
  checkOptions(options, { profile: true, provider: true })
  const { profile, provider } = options
  const getProvider = keepUntilRejected(provider ? () => provider : createChain)
  return {
    shared: true,
    ...(!provider && { advice: ADVICE }),
    async resolve(request) {
      const resolveKeys = await getProvider(request)
      // Without `forceRefresh`, the chain returns keys even if they expire within five minutes, and only refreshes them in the background.
      const { accessKeyId, secretAccessKey, sessionToken, expiration } = await resolveKeys({
        forceRefresh: request.reason !== 'first',
      })
      return {
        accessKeyId,
        secretAccessKey,
        ...(sessionToken && { sessionToken }),
        ...(expiration && { expiresAt: expiration.getTime() }),
      }
    },
  }

  async function createChain(): Promise<AwsCredentialProvider> {
    const { fromNodeProviderChain } = await loadPackage<CredentialProviders>(
      '@aws-sdk/credential-providers',
      () => import('@aws-sdk/credential-providers' as string), // the type hides the package from the compiler, because apps may not have it installed
    )
    return fromNodeProviderChain({ ignoreCache: true, ...(profile !== undefined && { profile }) })
  }
}
