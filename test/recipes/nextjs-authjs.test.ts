import { nextProject } from './next-project.ts'
import { serves } from './scenario.ts'
import { getCookies } from './sign-in.ts'

serves(
  'nextjs-authjs',
  async (origin, user) => {
    const csrf = await fetch(`${origin}/api/auth/csrf`)
    const { csrfToken } = await csrf.json()
    const signedIn = await fetch(`${origin}/api/auth/callback/credentials`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: getCookies(csrf) },
      body: new URLSearchParams({ csrfToken, user }),
    })
    return { cookie: getCookies(signedIn) }
  },
  nextProject,
)
