import { problem } from './problem.ts'

/** What the environment gives, checked. */
export interface Environment {
  adminToken: string | undefined
  secret: string | undefined
}

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

const MIN_LENGTH = 32

/** Throws a problem on a value that is there but cannot be used: an empty one is a mistake, not a wish for the default. */
export function readEnvironment(env: Variables, { newToken }: { newToken: boolean }): Environment {
  const { SIGNALBOX_ADMIN_TOKEN: adminToken, SIGNALBOX_SECRET: secret } = env
  if (adminToken !== undefined && adminToken.length < MIN_LENGTH) {
    const what = adminToken === '' ? 'empty' : `too short (${adminToken.length} characters)`
    throw problem(
      `SIGNALBOX_ADMIN_TOKEN is ${what}: use ${MIN_LENGTH} characters or more, such as 32 random bytes in hex, or unset it.`,
    )
  }
  if (adminToken !== undefined && newToken) {
    throw problem(
      '--new-token has nothing to replace while SIGNALBOX_ADMIN_TOKEN is set: change it there, or unset it.',
    )
  }
  if (adminToken !== undefined && !/^[\x21-\x7e]+$/.test(adminToken)) {
    throw problem(
      'SIGNALBOX_ADMIN_TOKEN holds blanks or characters that no header can carry: use plain ASCII, such as 32 random bytes in hex.',
    )
  }
  if (secret !== undefined && secret.trim() === '') {
    throw problem(
      'SIGNALBOX_SECRET is empty: set it to 32 random characters or more, or unset it to use the secret kept in the data folder.',
    )
  }
  if (secret !== undefined && secret.length < MIN_LENGTH) {
    throw problem(
      `SIGNALBOX_SECRET is too short (${secret.length} characters): use ${MIN_LENGTH} characters or more, such as 32 random bytes in hex, or unset it to use the secret kept in the data folder.`,
    )
  }
  return { adminToken, secret }
}
