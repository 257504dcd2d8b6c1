import { headers } from 'next/headers'
import { auth } from '../lib/auth.ts'
import { Chat } from './chat.tsx'
import { SignIn } from './sign-in.tsx'

export default async function Page() {
  const session = await auth.api.getSession({ headers: await headers() })
  return session ? <Chat name={session.user.name} isAdmin={session.user.isAdmin === true} /> : <SignIn />
}
