// What a question is called, wherever it is named.
import { sentence } from "./format.js";

const TITLES = { approval: "Approve the design", strategy: "Approve the plan", clarify: "Questions about the request", question: "A question", notes: "Notes of a reviewer", budget: "Retries are used up", manual: "A check by hand", escalation: "The agent asks for help", retries: "Retries are used up", errors: "It could not be judged", conflict: "A conflict", merge: "Merge the branch", flags: "Look at this before it lands", review: "Not ready for a pull request", "review rounds": "Rounds of review are used up", plan: "Is the plan done?", model: "The model is not available", undriven: "No process drives this run" };
export const titleOf = (q) => (q.security ? "A security question" : q.decision === "waits" && q.kind === "budget" ? "A limit is reached" : TITLES[q.kind] ?? sentence(q.kind));
