import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { manifest, root } from '../dist/built.ts'
import { assert, skip, suite } from '../support/suite.ts'

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
  env?: Record<string, string>
}
interface Job {
  'runs-on': string
  'timeout-minutes'?: number
  needs?: string | string[]
  environment?: string | { name: string }
  permissions?: Record<string, string>
  steps: Step[]
}
interface Workflow {
  on: Record<string, unknown>
  permissions: unknown
  env?: Record<string, string>
  jobs: Record<string, Job>
}

const folder = `${root}.github/workflows/`
const files = readdirSync(folder).map((name) => ({ name, text: readFileSync(folder + name, 'utf8') }))

/** The first major versions of the actions that run on Node 24. Runners haven't had Node 20 since September 2026. */
const ON_NODE_24: Readonly<Record<string, number>> = {
  'actions/checkout': 5,
  'actions/setup-node': 5,
  'actions/upload-artifact': 6,
  'actions/download-artifact': 7,
  'actions/upload-pages-artifact': 5,
  'actions/deploy-pages': 5,
}

/** The permissions of jobs that may do more than read the repository. */
const RIGHTS: Readonly<Record<string, string>> = {
  stage: 'id-token: write',
  draft: 'contents: write',
  deploy: 'pages: write,id-token: write',
}

const test = suite('GitHub workflows')

/** Lists the faults of a workflow, one per line. */
function findFaults(text: string): string[] {
  const { on, permissions, env = {}, jobs }: Workflow = parse(text)
  const faults: string[] = []
  if (JSON.stringify(permissions) !== '{}') faults.push('without a job, something is permitted')
  if ('pull_request_target' in on || 'workflow_run' in on) faults.push('code of others would run with rights')
  if (/\bsecrets\b|NODE_AUTH_TOKEN|NPM_TOKEN|_authToken/.test(text)) faults.push('it has a token')
  for (const [, use = '', comment = ''] of text.matchAll(/uses: *(\S+)(.*)/g)) {
    const [action = '', hash = ''] = use.split('@')
    const version = /^ # v(\d+)\.\d+\.\d+$/.exec(comment)?.[1]
    const first = ON_NODE_24[action]
    if (first === undefined || !/^[0-9a-f]{40}$/.test(hash) || version === undefined)
      faults.push(`${use} is no known action of GitHub's own by its hash, with its version behind it`)
    else if (Number(version) < first) faults.push(`${use} runs on Node 20, which runners no longer have`)
  }
  for (const [name, job] of Object.entries(jobs)) {
    const at = (fault: string) => faults.push(`${name}: ${fault}`)
    const granted = Object.entries(job.permissions ?? { all: 'write' }).map(([label, mode]) => `${label}: ${mode}`)
    const rights = RIGHTS[name] ?? 'contents: read'
    if (granted.join() !== rights) at(`may do ${granted.join() || 'nothing'}, and needs ${rights}`)
    if (job['timeout-minutes'] === undefined) at('may run for hours')
    if (/latest/.test(job['runs-on'])) at('runs on whatever is the latest')
    for (const { uses = '', run = '', with: input = {} } of job.steps) {
      if (uses.includes('/checkout@') && input['persist-credentials'] !== false)
        at('leaves the credential of the clone')
      if (uses.includes('/setup-node@') && (input['package-manager-cache'] !== false || input.cache !== undefined))
        at('shares a cache with pull requests')
      if (uses.includes('cache')) at('shares a cache with pull requests')
      if (/\$\{\{/.test(run)) at('writes an expression into a script')
      if (/npm (?:i|install)\b(?!.*--ignore-scripts)|npm (?:stage )?publish\b(?!.*--ignore-scripts)/.test(run))
        at('runs the scripts of packages')
      if (/\bnpx\b|curl|wget/.test(run)) at('runs what was not looked at')
    }
    const npmTwelve = job.steps.findIndex(
      ({ run = '' }) =>
        run.includes('echo "$NPM_SHA256  npm-$NPM.tgz" | sha256sum --check --strict && npm install --global') &&
        /^12\.\d+\.\d+$/.test(env.NPM ?? '') &&
        /^[0-9a-f]{64}$/.test(env.NPM_SHA256 ?? ''),
    )
    const firstInstall = job.steps.findIndex(({ run }) => /npm (?:ci|run|stage)|\.ci\/run/.test(run ?? ''))
    if (firstInstall >= 0 && !(npmTwelve >= 0 && npmTwelve < firstInstall))
      at('installs with an npm that runs all scripts, or is not known by its hash')
  }
  return faults
}

for (const { name, text } of files) {
  test(`${name} has no token, only the permissions it needs, and actions pinned by hash`, () => {
    assert.equal(findFaults(text), [])
  })
}

test('the workflow rules detect violations', () => {
  const text = files.find(({ name }) => name === 'release.yml')?.text ?? ''
  const changes: [from: string | RegExp, to: string, fault: RegExp][] = [
    [/checkout@[0-9a-f]{40}/, 'checkout@v7', /is no known action of GitHub's own by its hash/],
    ['actions/checkout@', 'others/checkout@', /is no known action of GitHub's own/],
    [/upload-artifact@\S+ # v\d+/, `upload-artifact@${'a'.repeat(40)} # v4`, /runs on Node 20/],
    ['permissions: {}', 'permissions: write-all', /something is permitted/],
    ['contents: read', 'contents: write', /test: may do contents: write/],
    ['persist-credentials: false', 'persist-credentials: true', /leaves the credential/],
    ['package-manager-cache: false', 'cache: npm', /shares a cache/],
    [/\$\{\{ github\.token \}\}/, '$' + '{{ secrets.RELEASE }}', /has a token/],
    ['publish ./release/signalbox-*.tgz --ignore-scripts', 'publish ./release/signalbox-*.tgz', /runs the scripts/],
    [/ {6}- run: npm pack .*\n.*\n {6}- run: npm ci\n/, '      - run: npm ci\n', /with an npm that runs all/],
    [/NPM_SHA256: .*/, 'NPM_SHA256: ""', /is not known by its hash/],
    ['"$GITHUB_REF_NAME" --out', '"$' + '{{ github.ref_name }}" --out', /an expression into a script/],
    ['tags: ["v*"]', 'tags: ["v*"]\n  pull_request_target:', /code of others/],
  ]
  for (const [from, to, fault] of changes) {
    const changed = text.replace(from, () => to)
    assert.is.not(changed, text, String(from))
    assert.match(findFaults(changed).join('\n'), fault)
  }
})

test("a release is published only after tests, checks, and a person's approval", () => {
  const { on, jobs }: Workflow = parse(files.find(({ name }) => name === 'release.yml')?.text ?? '')
  assert.equal(on, { push: { tags: ['v*'] } })
  assert.equal(Object.keys(jobs), ['test', 'check', 'pack', 'stage', 'draft'])
  assert.equal([jobs.stage?.needs, jobs.draft?.needs], [['test', 'check', 'pack'], 'stage'])
  assert.is(jobs.stage?.environment, 'npm', 'the environment requires a reviewer')
  for (const job of [jobs.check, jobs.pack]) {
    const cloned = job?.steps.find(({ uses }) => uses?.includes('/checkout@'))
    assert.is(cloned?.with?.['fetch-depth'], 0, 'the check for a tag on main needs the full history')
  }
  const listScripts = (job?: Job) => (job?.steps ?? []).flatMap(({ run }) => run ?? [])
  const release = (job?: Job) => listScripts(job).filter((run) => run.startsWith('npm run release'))
  assert.equal(release(jobs.check), ['npm run release -- --check --tag "$GITHUB_REF_NAME" --out release'])
  assert.equal(
    release(jobs.pack),
    ['npm run release -- --check --files --tag "$GITHUB_REF_NAME" --out release'],
    'the published package is built where only locked code runs',
  )
  assert.ok(listScripts(jobs.stage).some((run) => run.includes('echo "$CHECKED" | sha256sum --check --strict')))
  const scripts = Object.values(jobs).flatMap(listScripts)
  assert.is(scripts.filter((run) => /\bnpm (?:stage )?publish\b/.test(run)).length, 1)
  assert.match(scripts.join('\n'), /npm stage publish .* --provenance/)
  for (const file of ['signalbox-*.tgz', 'sbom.cdx.json', 'SHA256SUMS', '--notes-file notes.md'])
    assert.ok(
      scripts.some((run) => run.includes('gh release create') && run.includes(file)),
      file,
    )
})

test('the site is published from main by a job that runs no repository code', () => {
  const { on, jobs }: Workflow = parse(files.find(({ name }) => name === 'docs.yml')?.text ?? '')
  assert.equal(on, { push: { branches: ['main'], tags: ['v*'] } })
  assert.equal(Object.keys(jobs), ['build', 'deploy'])
  assert.is(jobs.build?.steps[0]?.with?.ref, 'main', 'for tags too, the site is built from main')
  assert.equal([jobs.deploy?.needs, jobs.deploy?.steps.map(({ run }) => run)], ['build', [undefined]])
})

test('a prerelease gets the npm tag "next", and is marked as a prerelease on GitHub', async () => {
  if (process.platform === 'win32') skip('the scripts are for a POSIX shell')
  const { jobs }: Workflow = parse(files.find(({ name }) => name === 'release.yml')?.text ?? '')
  const bin = await mkdtemp(join(tmpdir(), 'workflow-'))
  try {
    for (const name of ['npm', 'gh'])
      await writeFile(join(bin, name), `#!/bin/sh\necho ${name} "$@"\n`, { mode: 0o755 })
    const output = async (job: Job | undefined, tag: string) => {
      const script = job?.steps.find(({ run }) => run?.startsWith('case '))?.run ?? ''
      const env = { PATH: `${bin}:${process.env.PATH}`, GITHUB_REF_NAME: tag }
      return (await promisify(execFile)('bash', ['-e', '-c', script], { cwd: bin, env })).stdout.trim()
    }
    assert.match(await output(jobs.stage, 'v0.2.0'), /^npm stage publish \.\/release\/\S+ .*--access public$/)
    assert.match(await output(jobs.stage, 'v0.2.0-alpha.0'), /^npm stage publish .*--access public --tag next$/)
    assert.not.match(await output(jobs.draft, 'v0.2.0'), /--prerelease/)
    assert.match(
      await output(jobs.draft, 'v0.2.0-alpha.0'),
      /^gh release create v0\.2\.0-alpha\.0 .* --prerelease signalbox-/,
    )
  } finally {
    await rm(bin, { recursive: true })
  }
})

test('workflows only call existing scripts', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  for (const { text } of files)
    for (const [, name = ''] of text.matchAll(/npm run ([\w-]+)/g)) assert.ok(name in scripts, name)
  const run = readFileSync(`${root}.ci/run`, 'utf8')
  for (const command of ['setup.mjs test --all', 'setup.mjs bench --check']) assert.ok(run.includes(command), command)
  assert.is(manifest.name, 'signalbox')
})
