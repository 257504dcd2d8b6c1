import { assert } from '../support/suite.ts'
import { nextProject } from './next-project.ts'
import { serves } from './scenario.ts'
import { getCookies } from './sign-in.ts'

const MIGRATE = `
import { getMigrations } from 'better-auth/db/migration'
import { auth } from './lib/auth.ts'

await (await getMigrations(auth.options)).runMigrations()
`
const manifest = {
  private: true,
  scripts: { prebuild: 'node migrate.ts', build: 'next build', start: 'next start -p 3000' },
}

const users: string[] = []
const getAddress = (user: string) => `10.0.0.${users.push(user)}`

serves(
  'nextjs-better-auth',
  async (origin, user) => {
    const signedUp = await fetch(`${origin}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, 'x-forwarded-for': getAddress(user) }, // few sign-ups may come from the same IP address
      body: JSON.stringify({ name: user, email: `${user}@example.com`, password: 'a long password' }),
    })
    assert.is(signedUp.status, 200, await signedUp.text())
    return { cookie: getCookies(signedUp) }
  },
  { ...nextProject, files: { ...nextProject.files, 'package.json': JSON.stringify(manifest), 'migrate.ts': MIGRATE } },
)
