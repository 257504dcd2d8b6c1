import { lstat, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createUsageProblem } from '../command-line.ts'
import { createProblem } from '../problem.ts'
import { planLiteLlm } from './litellm.ts'
import { planNineRouter } from './nine-router.ts'
import { readNineRouter } from './nine-router-data.ts'
import { type ImportFinding, ImportPlan } from './plan.ts'
import { planPortkey } from './portkey.ts'
import { getErrorCode, readDocument, readWithIncludes } from './read-file.ts'

/** The programs whose configuration can be imported. */
export type ImportSource = 'litellm' | 'portkey' | '9router'

/** An import's findings, and the file it creates. They contain no secrets. */
export interface ImportResult {
  mapped: readonly ImportFinding[]
  unmapped: readonly ImportFinding[]
  /** The variables that the file needs, each with a description. */
  variables: readonly { name: string; holds: string }[]
  /** Whether the file contains client keys. The keys get their values at startup. */
  hasKeys: boolean
  /** The only model that clients can request: the combo of a Portkey config. */
  sole?: string
  /** The records, in YAML. */
  file: string
  /** The path that the file was written to. */
  out?: string
}

interface ImportOptions {
  out?: string | undefined
  model?: string | undefined
  providers?: readonly string[] | undefined
}

/**
 * Reads another program's configuration, and writes the records to `out` if it is set. Throws a problem if the configuration can't be read or if
 * `out` exists. `model` and `providers` supply information that a Portkey config lacks (see `planPortkey`).
 */
export async function importFrom(
  source: ImportSource,
  path: string,
  { out, model, providers }: ImportOptions = {},
): Promise<ImportResult> {
  if (out !== undefined) await requireUnusedPath(out)
  const plan = new ImportPlan()
  if (source === '9router') planNineRouter(await readNineRouter(path), plan)
  else if (source === 'portkey') planPortkey(await readDocument(path), plan, { model, providers })
  else planLiteLlm(await readWithIncludes(path), plan)
  const file = plan.renderFile(`${source}: ${path.split(/[\\/]/).at(-1) ?? path}`)
  if (out !== undefined) await writeNewFile(out, file)
  const variables = [...plan.variables]
    .filter(([name]) => file.includes(`\${${name}}`)) // skips variables for parts that weren't imported
    .map(([name, holds]) => ({ name, holds }))
  return {
    mapped: plan.mapped,
    unmapped: plan.unmapped,
    variables,
    hasKeys: plan.keys.size > 0,
    ...(source === 'portkey' && plan.combos.has('portkey') && { sole: 'portkey' }),
    file,
    ...(out !== undefined && { out }),
  }
}

/** Throws a problem if the path can't be written to. Runs before anything is read. */
async function requireUnusedPath(out: string): Promise<void> {
  if (!/\.ya?ml$/i.test(out)) throw createUsageProblem('The name of the --out file must end in .yaml or .yml.')
  const found = await lstat(out).catch((cause: unknown) => {
    if (getErrorCode(cause) === 'ENOENT') return undefined
    throw createWriteProblem(out, cause)
  })
  if (found) throw createTakenProblem(out)
}

const createTakenProblem = (out: string) => createProblem(`${out} already exists. Choose another name for --out.`)

/** Writes a new file. Throws a problem if a file or link exists at the path, even one that was just created. */
async function writeNewFile(out: string, content: string): Promise<void> {
  const file = await open(out, 'wx').catch((cause: unknown) => {
    throw getErrorCode(cause) === 'EEXIST' ? createTakenProblem(out) : createWriteProblem(out, cause)
  })
  try {
    await file.writeFile(content)
    await file.close()
  } catch (cause) {
    await file.close().catch(() => {})
    await rm(out, { force: true }) // a partial file would block the next attempt
    throw createWriteProblem(out, cause)
  }
}

function createWriteProblem(out: string, cause: unknown) {
  const code = getErrorCode(cause)
  const reason = {
    ENOENT: `the directory ${dirname(out)} doesn't exist`,
    ENOTDIR: `${dirname(out)} is not a directory`,
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
    ENAMETOOLONG: 'the name is too long',
  }[code]
  return createProblem(`Cannot write ${out}: ${reason ?? code}.`, { cause })
}
