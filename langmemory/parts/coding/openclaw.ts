// Written by `langmemory hooks install openclaw`. It never fails a session.
import { spawn } from "node:child_process";

const COMMANDS = %s;
const sessions = new Map();
const asked = new Map();

function hand(command, payload) {
  return new Promise((done) => {
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.on("error", () => done(""));
    child.on("close", () => done(Buffer.concat(parts).toString("utf8")));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}

export default async function handler(event) {
  const name = `${event.type}:${event.action}`;
  const command = COMMANDS[name];
  if (!command) return;
  const context = event.context ?? {};
  if (name === "message:preprocessed") {
    asked.set(event.sessionKey, context.bodyForAgent ?? context.transcript ?? context.body ?? "");
    return;
  }
  if (name === "agent:bootstrap") {
    const { sessionId: session, agentId: agent = "main", workspaceDir: folder = "" } = context;
    sessions.set(event.sessionKey, { session, agent, folder });
  }
  const known = sessions.get(event.sessionKey);
  if (!known) return;
  const answer = await hand(command, { ...known, prompt: asked.get(event.sessionKey) ?? "" });
  if (answer && Array.isArray(context.bootstrapFiles)) {
    context.bootstrapFiles.push({ name: "MEMORY.md", path: "langmemory", content: answer, missing: false });
  }
}
