import { problem } from './problem.ts'

/** `engines` of package.json. */
const OLDEST = '20.18.1'

/** Throws a problem when the program runs on a Node that is too old for it. */
export function requireNode(version: string): void {
  if (rank(version) >= rank(OLDEST)) return
  throw problem(`Node ${version} is too old: install ${OLDEST} or later, see https://nodejs.org`)
}

function rank(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return (major * 1_000 + minor) * 1_000 + patch
}
